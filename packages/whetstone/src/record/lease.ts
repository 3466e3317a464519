import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { makeEach } from '@whetstone/sandbox/files';

/**
 * A lock of several processes, as SQLite's own: the kernel ends it with its process, `kill -9` included. `shared`: any
 * number of processes, each of which uses a thing. `exclusive`: the one that makes or removes it.
 */
export type Lease = Disposable;

/** Takes a lock if it is free; `undefined` if it is not. The file is made, and stays. */
export function tryLease(file: string, kind: 'shared' | 'exclusive'): Lease | undefined {
  makeEach(dirname(file), 0o700);
  const database = open(file);
  try {
    // A transaction is only a lock once it has read something.
    database.exec(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT 1 FROM sqlite_schema');
  } catch (error) {
    database.close();
    if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

const SQLITE_BUSY = 5;
const POLL_MS = 100;

/** Calls `attempt` until it returns something; its waiting ends with the signal. */
export async function retried<T>(attempt: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const result = await attempt();
    if (result !== undefined) return result;
    await delay(POLL_MS, undefined, { signal });
  }
}

function open(file: string): DatabaseSync {
  sqlite ??= load();
  return new sqlite.DatabaseSync(file, { timeout: 0 });
}

let sqlite: typeof import('node:sqlite') | undefined;

/** Node 22 prints a warning about the module, which a user of ours does not need. */
function load(): typeof import('node:sqlite') {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
