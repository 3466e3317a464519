import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placesReadAbove } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';

/**
 * Agents search for instructions and settings in every folder above their workspace. Refuses a folder that has something
 * of that in it or above it: it is not part of the tree that is measured.
 * @throws WhetstoneError `instructions-above-workspace`, which names the file.
 */
export function checkParents(folder: string): void {
  const found = parentsOf(folder).flatMap(instructionsIn);
  if (found.length === 0) return;
  const [where] = found;
  throw new WhetstoneError(
    'instructions-above-workspace',
    `Agents would read this in a folder above their workspace: ${found.join(', ')}.`,
    {
      where,
      hint: 'Move it away, or set TMPDIR to a folder that has nothing like that in it or above it.',
    },
  );
}

/** Absolute paths of what agents would read in a folder above their workspace. */
export function instructionsIn(folder: string): string[] {
  return placesReadAbove()
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

function parentsOf(folder: string): string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...parentsOf(dirname(folder))];
}
