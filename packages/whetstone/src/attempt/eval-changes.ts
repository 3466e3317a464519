import { readFileSync } from 'node:fs';
import { present } from '@whetstone/events/present';
import type { SentChange } from '../eval/protocol.ts';
import { readBlobs } from '../workspace/read-blobs.ts';
import type { Changes } from '../workspace/workspace.ts';

/** The part of a patch about one file. The patch has them in the order of the files. */
function splitPatch({ patchFile }: Changes): string[] {
  const patch = readFileSync(patchFile, 'utf8');
  return patch === '' ? [] : patch.split(/^(?=diff --git )/m);
}

/** The changes as the code of an eval sees them. */
export function toSentChanges(changes: Changes): SentChange[] {
  const patches = splitPatch(changes);
  return changes.files.map(({ path, change, from }, index) => ({
    ...{ path, status: change, patch: patches[index] ?? '' },
    ...present({ from }),
  }));
}

const NOTHING = /^0+$/;

/** The text of a changed file on one side of its change; `undefined` where it did not exist, or is not text. */
export async function readContent(
  changes: Changes,
  path: string,
  side: 'before' | 'after',
): Promise<string | undefined> {
  const index = changes.files.findIndex((file) => file.path === path);
  const file = changes.files[index];
  if (!file || file.binary) return undefined;
  const before = /^index ([0-9a-f]+)\.\./m.exec(splitPatch(changes)[index] ?? '')?.[1];
  // A file that was only renamed, or got another mode, has the same content on both sides.
  const oid = side === 'after' ? file.oid : (before ?? (file.change === 'added' ? undefined : file.oid));
  if (oid === undefined || NOTHING.test(oid)) return undefined;
  let text = '';
  await readBlobs(changes.contents, [oid], async (content) => {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(Buffer.from(chunk));
    text = Buffer.concat(chunks).toString('utf8');
  });
  return text;
}
