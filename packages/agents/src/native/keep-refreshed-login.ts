import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { tokensAt } from './login.ts';

/**
 * Writes the login that an agent refreshed in its case back to the user's file, as the program itself would have: many
 * providers end the old login when they give out a new one. `given` is what the case got. The user's file stays as it is
 * when it has changed since, or when the new content is not the same kind of login. Returns what a reader should know;
 * `undefined` if the login was not refreshed.
 */
export function keepRefreshedLogin(file: string, given: string, refreshed: string): string | undefined {
  if (refreshed === given) return undefined;
  const lost = 'The agent refreshed its login in the case, and the new one was not kept:';
  if (!isSameKind(given, refreshed)) return `${lost} it lacks tokens that ${file} has.`;
  try {
    // Behind a link, so that the link stays one.
    const target = realpathSync(file);
    if (readFileSync(target, 'utf8') !== given) return `${lost} ${file} has changed meanwhile.`;
    replaceFile(target, refreshed);
    return `The agent refreshed its login in the case; ${file} has the new one.`;
  } catch (error) {
    return `${lost} ${messageOf(error)}`;
  }
}

/** Whether every token of the one is also in the other, with another value or the same. */
function isSameKind(given: string, refreshed: string): boolean {
  const paths = new Set(tokensAt(parseJson(refreshed)).map(([path]) => path));
  return tokensAt(parseJson(given)).every(([path]) => paths.has(path));
}

/** As a whole or not at all, and readable only for its owner. */
function replaceFile(file: string, content: string): void {
  const written = `${file}.${randomUUID()}`;
  try {
    writeFileSync(written, content, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(written, file);
  } finally {
    rmSync(written, { force: true });
  }
}
