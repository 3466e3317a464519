import type { Mask } from '@whetstone/sandbox';
import { readBlobs } from '../workspace/read-blobs.ts';
import type { Changes } from '../workspace/workspace.ts';
import { keepFile, passMasked } from './keep-file.ts';

/**
 * Keeps the patch of a case as `target`. Without a secret in it, byte for byte. Else with the secret masked: such a patch
 * is for reading, and may no longer apply. Where a binary file holds a secret there is no patch, because git writes
 * binary contents compressed and nothing in them can be masked. Resolves with notes for people, empty in the first case.
 */
export async function keepPatch(
  changes: Changes,
  target: string,
  { mask, hasSecrets }: { mask: Mask; hasSecrets: boolean },
): Promise<string[]> {
  const leaking = hasSecrets ? await leakingBinaries(changes, mask) : [];
  if (leaking.length > 0) {
    return [
      `changes.patch was left out: a secret is in a binary file (${leaking.map(mask.text).join(', ')})`,
    ];
  }
  const kept = await keepFile(changes.patchFile, target, { mask });
  return kept === 'same' ? [] : ['changes.patch: secrets were masked; it may no longer apply'];
}

/** Binary files of the changes whose new contents hold a secret, for display. */
async function leakingBinaries(changes: Changes, mask: Mask): Promise<string[]> {
  const binaries = changes.files.flatMap(({ path, binary, oid }) => (binary && oid ? [{ path, oid }] : []));
  const leaking: string[] = [];
  const oids = binaries.map(({ oid }) => oid);
  await readBlobs(changes.contents, oids, async ({ content }, index) => {
    const found = await passMasked(content, mask, async () => undefined);
    const path = binaries[index]?.path;
    if (found === 'masked' && path !== undefined) leaking.push(path);
  });
  return leaking;
}
