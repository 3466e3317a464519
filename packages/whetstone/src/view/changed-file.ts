import type { ChangedFile } from './api.ts';
import { type RecordedCase, readCaseFile } from './case-files.ts';

/** Of a patch. A longer one is read by nobody. */
const PATCH_BYTES = 16 * 1024 * 1024;
/** Of each text. */
const MOST_CHARACTERS = 1024 * 1024;

/**
 * A file that a case changed as it was before and after, made of the repository of the run and the patch, whose ids both have to
 * fit. `undefined`: the patch has no such file.
 */
export async function changedFile(
  recorded: RecordedCase,
  repo: string,
  index: number,
): Promise<ChangedFile | undefined> {
  const patch = await readCaseFile(recorded, 'patch', PATCH_BYTES);
  if (patch === undefined) return undefined;
  const { storedChanges, storedContent } = await import('../run/stored-content.ts');
  const change = storedChanges(patch.head)[index];
  if (change === undefined) return undefined;
  try {
    const [before = null, after = null] = await Promise.all([
      storedContent(repo, change, 'before'),
      storedContent(repo, change, 'after'),
    ]);
    const cut = [before, after].reduce(
      (sum, text) => sum + Math.max(0, (text?.length ?? 0) - MOST_CHARACTERS),
      0,
    );
    const short = (text: string | null) => text?.slice(0, MOST_CHARACTERS).toWellFormed() ?? null;
    return { problem: null, before: short(before), after: short(after), cut };
  } catch {
    const reasons = 'it is not a text, secrets were masked in it, or the repository of the run is not here';
    return { problem: `The whole file cannot be shown: ${reasons}.` };
  }
}
