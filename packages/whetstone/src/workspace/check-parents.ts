import { placesReadAbove } from '@whetstone/agents/config';
import { foundAbove } from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';

/** Asked for twice in each case. */
let places: readonly string[] | undefined;

/**
 * Agents search for instructions and settings in every folder above their workspace. Refuses a folder that has something
 * of that in it or above it: it is not part of the tree that is measured.
 * @throws WhetstoneError `instructions-above-workspace`, which names the file.
 */
export function checkParents(folder: string): void {
  places ??= placesReadAbove();
  const found = foundAbove(folder, places);
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
