import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A named pipe: another process opens the other end by `path`, then `release` is called, and `stream` is used. */
export type NamedPipe = {
  path: string;
  stream: Socket;
  /** Removes the name, and closes what kept the pipe open until the other process had it. */
  release(): void;
};

/** So many are made at a time, because a program makes them. */
const BATCH = 48;

/**
 * Opens named pipes, in a new folder per batch. Each pipe is for one process: another one must not read what was meant
 * for it. `onFolder` is called with each folder, which somebody has to remove in the end.
 */
export function createNamedPipes(
  onFolder: (folder: string) => void,
): (isWritten: readonly boolean[]) => Promise<NamedPipe[]> {
  const paths: string[] = [];
  let refilling: Promise<void> | undefined;

  async function open(isWritten: readonly boolean[]): Promise<NamedPipe[]> {
    const pipes: NamedPipe[] = [];
    try {
      for (const written of isWritten) pipes.push(openFifo(paths.pop() ?? '', written));
      return pipes;
    } catch (error) {
      closePipes(pipes);
      throw error;
    }
  }

  async function refill(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'whetstone-pipes-'));
    onFolder(folder);
    paths.push(...(await makeFifos(folder)));
  }

  return async (isWritten) => {
    while (paths.length < isWritten.length) {
      refilling ??= refill().finally(() => {
        refilling = undefined;
      });
      await refilling;
    }
    return await open(isWritten).catch(async (error: NodeJS.ErrnoException) => {
      // Somebody cleans up the folder for temporary files.
      if (error.code !== 'ENOENT') throw error;
      paths.length = 0;
      await refill();
      return await open(isWritten);
    });
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
  return {
    path,
    stream: new Socket({ fd: own, readable: !isWritten, writable: isWritten }),
    release() {
      closeSync(others);
      rmSync(path, { force: true });
    },
  };
}

async function makeFifos(folder: string): Promise<string[]> {
  const paths = Array.from({ length: BATCH }, () => join(folder, randomUUID()));
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  return paths;
}
