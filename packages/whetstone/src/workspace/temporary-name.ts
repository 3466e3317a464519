import { randomBytes } from 'node:crypto';

/** A name for a folder whose lock is `NAME.lock` beside it. */
export const lockedName = (): string => `whetstone-${randomBytes(8).toString('hex')}`;

/** The name of the folder that a lock belongs to; `undefined` for any other name. */
export const nameOfLock = (file: string): string | undefined =>
  /^(whetstone-[0-9a-f]{16})\.lock$/.exec(file)?.[1];
