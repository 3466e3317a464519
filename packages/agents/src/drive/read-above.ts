import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';

/** Absolute paths of these files and folders in a folder and in every folder above it, the nearest first. */
export function foundAbove(folder: string, names: readonly string[]): string[] {
  const here = names
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  const parent = dirname(folder);
  return parent === folder ? here : [...here, ...foundAbove(parent, names)];
}

/**
 * Refuses a folder above which an agent would read something that does not belong to the project: above the root of its
 * repository, or above the folder itself where it is in none.
 * @throws WhetstoneError `instructions-above-workspace`, which names the file.
 */
export function refuseAbove(agent: string, folder: string, names: readonly string[]): void {
  const project = projectRoot(folder) ?? folder;
  const found = dirname(project) === project ? [] : foundAbove(dirname(project), names);
  const [where] = found;
  if (where === undefined) return;
  const message = `Agent ${agent} would read this in a folder above its project: ${found.join(', ')}.`;
  const hint = "Move it away, work in another folder, or allow it with the option `above: 'allowed'`.";
  throw new WhetstoneError('instructions-above-workspace', message, { where, hint });
}

function projectRoot(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : projectRoot(dirname(folder));
}
