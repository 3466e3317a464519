import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The two ends of a pipe: `stdio` goes to `spawn`, then `closeWriteEnd` is called, and `readable` is read. */
export type OutputPipe = { stdio: number; readable: Socket; closeWriteEnd(): void };

/** Makes pipes for the output of commands: one for standard output, one for standard error. */
export type OutputPipes = { open(): Promise<[OutputPipe, OutputPipe]> };

/**
 * Named pipes in `folder`. One command at a time uses a pipe; it is used again when nobody writes to it any more.
 *
 * Node's own `pipe` is a socket, and on Linux a script that says `echo failed > /dev/stderr` cannot open a socket:
 * the script would fail here and nowhere else.
 */
export function createOutputPipes(folder: string): OutputPipes {
  const idle: string[] = [];
  const openPipe = (path: string): OutputPipe => {
    const pipe = openFifo(path);
    pipe.readable.once('end', () => pipe.readable.once('close', () => idle.push(path)));
    return pipe;
  };
  return {
    async open() {
      const [first = '', second = ''] = idle.length < 2 ? await makeFifos(folder) : idle.splice(-2);
      const stdout = openPipe(first);
      try {
        return [stdout, openPipe(second)];
      } catch (error) {
        stdout.closeWriteEnd();
        stdout.readable.destroy();
        throw error;
      }
    },
  };
}

function openFifo(path: string): OutputPipe {
  // The reader comes first and does not wait for a writer; then the writer does not wait either.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeEnd = openSync(path, constants.O_WRONLY);
    const readable = new Socket({ fd: readEnd, readable: true, writable: false });
    return { stdio: writeEnd, readable, closeWriteEnd: () => closeSync(writeEnd) };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}

/** Makes two pipes with one program, because it runs before the first command of every sandbox. */
async function makeFifos(folder: string): Promise<string[]> {
  const paths = [randomUUID(), randomUUID()].map((name) => join(folder, name));
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  return paths;
}
