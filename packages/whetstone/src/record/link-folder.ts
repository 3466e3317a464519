import { copyFileSync, linkSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { codeOf } from '@whetstone/errors';

/**
 * Gives a case the files of another one without copying them, so that each run stays whole when another one is deleted.
 * Files of a case are written once, so nobody changes the other's. Links nothing where there is no such folder, and no file
 * of `except` right in it.
 */
export function linkFolder(from: string, to: string, except: ReadonlySet<string> = new Set()): void {
  mkdirSync(to, { recursive: true });
  for (const entry of entriesOf(from)) {
    if (except.has(entry.name)) continue;
    const [source, target] = [`${from}${sep}${entry.name}`, `${to}${sep}${entry.name}`];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkFile(source, target);
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(codeOf(error) ?? '')) throw error;
    copyFileSync(source, target);
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
