import { lstatSync, readdirSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { absolutePath, joinPath } from './tree-path.ts';

/** A reader wants to know what was changed, not the 30,000 files of a second installation. */
const MOST_PATHS = 200;

/**
 * Byte paths of what is in the upper layer of a mount at or below the given paths, without folders: files that were added or
 * changed, and the marks of what was deleted.
 */
export function touchedBelow(upper: string, roots: Iterable<string>): string[] {
  const found: string[] = [];
  const waiting = [...roots].sort().reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const names = found.length < MOST_PATHS ? namesIn(upper, path) : [];
    if (names === undefined) found.push(path);
    else waiting.push(...names.map((name) => joinPath(path ?? '', name)).reverse());
  }
  return found;
}

/** `undefined`: it is not a folder. */
function namesIn(upper: string, path: string): string[] | undefined {
  const absolute = absolutePath(upper, path);
  try {
    if (!lstatSync(absolute).isDirectory()) return undefined;
    return readdirSync(absolute, { encoding: 'buffer' })
      .map((name) => name.toString('latin1'))
      .sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return [];
    // Locked, or too deep to name: something did that.
    return undefined;
  }
}
