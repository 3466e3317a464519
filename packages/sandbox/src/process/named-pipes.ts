import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A pipe: another process opens the other end by `path`, then `release` is called, and `stream` is used. */
export type NamedPipe = {
  path: string;
  stream: Socket;
  /** Closes the end that is the other process's. */
  release(): void;
};

/** Both ends of a pipe, as descriptors. */
type Ends = { read: number; write: number };

/** So many are made at a time, because a program makes them. */
const BATCH = 24;

/**
 * Opens named pipes. Each is for one process: another one must not read what was meant for it. Their names are removed
 * before they are used; `path` leads through `/proc` (Linux).
 * @param makeFifos Makes a new folder, with named pipes of these paths in it, and removes it when this process has ended
 * before it could.
 */
export function createNamedPipes(
  makeFifos: (folder: string, paths: readonly string[]) => Promise<void>,
): (isWritten: readonly boolean[]) => Promise<NamedPipe[]> {
  const idle: Ends[] = [];
  let refilling: Promise<void> | undefined;

  async function refill(): Promise<void> {
    const folder = join(tmpdir(), `whetstone-pipes-${randomUUID()}`);
    try {
      const paths = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)));
      await makeFifos(folder, paths);
      for (const path of paths) idle.push(openFifo(path));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  return async (isWritten) => {
    while (idle.length < isWritten.length) {
      refilling ??= refill().finally(() => {
        refilling = undefined;
      });
      await refilling;
    }
    return idle.splice(-isWritten.length).map((ends, index) => pipeOf(ends, isWritten[index] ?? false));
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
function openFifo(path: string): Ends {
  // The reader comes first and does not wait for a writer; then the writer does not wait either.
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { read, write: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

function pipeOf({ read, write }: Ends, isWritten: boolean): NamedPipe {
  const [own, others] = isWritten ? [write, read] : [read, write];
  return {
    path: `/proc/${process.pid}/fd/${others}`,
    stream: new Socket({ fd: own, readable: !isWritten, writable: isWritten }),
    release: () => closeSync(others),
  };
}
