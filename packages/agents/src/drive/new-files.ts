import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';

/** Folders with many files that no agent edits by name. */
const NOT_LISTED = new Set(['.git', 'node_modules']);
const MOST_FILES = 50_000;

/** The files of a folder, by their paths in it; `undefined` if they could not all be listed, or are more than 50,000. */
export async function listFiles(folder: string): Promise<ReadonlySet<string> | undefined> {
  const files = new Set<string>();
  try {
    return (await addFiles(folder, '', files)) ? files : undefined;
  } catch {
    return undefined;
  }
}

async function addFiles(root: string, folder: string, files: Set<string>): Promise<boolean> {
  for await (const entry of await opendir(join(root, folder), { bufferSize: 256 })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) files.add(path);
    else if (!NOT_LISTED.has(entry.name) && !(await addFiles(root, path, files))) return false;
    if (files.size > MOST_FILES) return false;
  }
  return true;
}

/**
 * What the host has to add to the events of a turn: some agents do not know which file is new, and report it as modified.
 * @param before The files of `folder` before the turn.
 */
export function newFilesIn(
  events: readonly StreamEvent[],
  before: ReadonlySet<string>,
  folder: string,
): StreamEvent[] {
  const named = new Set<string>();
  for (const event of events) {
    if (event.type === 'file.changed' && event.change === 'modified' && !before.has(event.path))
      named.add(event.path);
  }
  const isListed = (path: string): boolean =>
    !path.startsWith('/') && !path.split('/').some((name) => name === '..' || NOT_LISTED.has(name));
  const at = new Date().toISOString();
  return [...named]
    .filter((path) => isListed(path) && existsSync(join(folder, path)))
    .map((path) => ({ type: 'file.changed', at, source: 'host', path, change: 'added' }));
}
