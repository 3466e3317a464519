import type { Mask } from '@whetstone/sandbox';
import { readBlobs } from '../workspace/read-blobs.ts';
import type { Changes } from '../workspace/workspace.ts';
import { keepFile, passMasked } from './keep-file.ts';

/**
 * Copies the patch of a case to `target`, with secrets masked; then it may no longer apply. There is no patch where a
 * binary file holds a secret, because git compresses binary contents. Resolves with notes on both.
 */
export async function keepPatch(
  changes: Changes,
  target: string,
  { mask }: { mask: Mask },
): Promise<string[]> {
  const leaking = mask.isEmpty ? [] : await leakingBinaries(changes, mask);
  if (leaking.length > 0) {
    return [
      `changes.patch was left out: a secret is in a binary file (${leaking.map(mask.text).join(', ')})`,
    ];
  }
  const kept = await keepFile(changes.patchFile, target, { mask });
  return kept === 'same' ? [] : ['changes.patch: secrets were masked; it may no longer apply'];
}

/** Display paths of the changed binary files whose new contents hold a secret. */
async function leakingBinaries(changes: Changes, mask: Mask): Promise<string[]> {
  const binaries = changes.files.flatMap(({ path, binary, oid }) => (binary && oid ? [{ path, oid }] : []));
  const leaking: string[] = [];
  const oids = binaries.map(({ oid }) => oid);
  await readBlobs(changes.contents, oids, async (content, index) => {
    const found = await passMasked(content, mask, async () => undefined);
    const path = binaries[index]?.path;
    if (found === 'masked' && path !== undefined) leaking.push(path);
  });
  return leaking;
}
