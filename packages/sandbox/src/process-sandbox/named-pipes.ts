import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A named pipe: another process opens the other end by `path`, then `release` is called, and `stream` is used. */
export type NamedPipe = {
  path: string;
  stream: Socket;
  /** Closes what keeps the pipe open until the other process has it. */
  release(): void;
};

/** Makes named pipes for commands, at most one command at a time for each. */
export type NamedPipes = { open(directions: readonly ('read' | 'write')[]): Promise<NamedPipe[]> };

/**
 * Named pipes in `folder`. A pipe is used again when nobody writes to it any more.
 *
 * Node's own `pipe` is a socket, and on Linux a script that says `echo failed > /dev/stderr` cannot open a socket:
 * the script would fail here and nowhere else.
 */
export function createNamedPipes(folder: string): NamedPipes {
  const idle: string[] = [];
  return {
    async open(directions) {
      if (idle.length < directions.length) idle.push(...(await makeFifos(folder, directions.length)));
      const paths = idle.splice(-directions.length);
      const pipes: NamedPipe[] = [];
      try {
        for (const [index, path] of paths.entries())
          pipes.push(openFifo(path, directions[index] === 'write'));
      } catch (error) {
        closePipes(pipes);
        throw error;
      }
      for (const { path, stream } of pipes) {
        stream.once('end', () => stream.once('close', () => idle.push(path)));
      }
      return pipes;
    },
  };
}

/** Closes both ends of pipes that no process has got. */
export function closePipes(pipes: readonly NamedPipe[]): void {
  for (const { stream, release } of pipes) {
    stream.destroy();
    release();
  }
}

/** Opens both ends, so that neither the other process nor this one waits to open its own. */
function openFifo(path: string, isWritten: boolean): NamedPipe {
  // The reader comes first and does not wait for a writer; then the writer does not wait either.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let writeEnd: number;
  try {
    writeEnd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
  const [own, others] = isWritten ? [writeEnd, readEnd] : [readEnd, writeEnd];
  const stream = new Socket({ fd: own, readable: !isWritten, writable: isWritten });
  return { path, stream, release: () => closeSync(others) };
}

/** Makes pipes with one program, because it runs before the first command of every sandbox. */
async function makeFifos(folder: string, count: number): Promise<string[]> {
  const paths = Array.from({ length: count }, () => join(folder, randomUUID()));
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  return paths;
}
