import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The two ends of a pipe: `stdio` is handed to `spawn`, then `closeWriteEnd` is called, then `readable` is read. */
export type OutputPipe = { stdio: number; readable: Socket; closeWriteEnd(): void };

/** Makes pipes for the output of commands. */
export type OutputPipes = { open(): Promise<OutputPipe> };

/**
 * Named pipes in `folder`, each used by one command at a time and reused when nobody writes to it any more.
 *
 * Node's own `pipe` is a socket, and on Linux a script that says `echo failed > /dev/stderr` cannot open a socket:
 * it would fail here and nowhere else.
 */
export function createOutputPipes(folder: string): OutputPipes {
  const idle: string[] = [];
  return {
    async open() {
      const path = idle.pop() ?? (await makeFifo(folder));
      // The reader comes first and does not wait for a writer; then the writer does not wait either.
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writeEnd = openSync(path, constants.O_WRONLY);
      const readable = new Socket({ fd: readEnd, readable: true, writable: false });
      readable.once('end', () => readable.once('close', () => idle.push(path)));
      return { stdio: writeEnd, readable, closeWriteEnd: () => closeSync(writeEnd) };
    },
  };
}

async function makeFifo(folder: string): Promise<string> {
  const path = join(folder, randomUUID());
  await promisify(execFile)('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } });
  return path;
}
