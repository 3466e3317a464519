import { randomUUID } from 'node:crypto';
import type { Platform } from '../ci/platform.ts';
import type { Streams } from './streams.ts';

/** While agents work, no line of the log is a command to GitHub. */
export async function quietly<T>(
  { kind }: Platform,
  { stdout }: Streams,
  work: () => Promise<T>,
): Promise<T> {
  if (kind !== 'github') return await work();
  const word = randomUUID();
  stdout.write(`::stop-commands::${word}\n`);
  return await work().finally(() => stdout.write(`::${word}::\n`));
}
