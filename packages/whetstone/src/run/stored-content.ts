import { applyPatch } from 'diff';
import type { SentChange } from '../eval/protocol.ts';
import { GitError, git } from '../workspace/git.ts';
import { formatOf } from '../workspace/git-directory.ts';
import { hashBytes } from '../workspace/hash-blob.ts';
import { openRepository } from '../workspace/repository.ts';

const NOTHING = /^0+$/;

/**
 * The text of a changed file of a stored case on one side of its change: from the repository of the run, and from the
 * stored patch. `undefined`: the file did not exist there. Both are checked against the ids in the patch.
 * @throws Error where the text is not what it was: secrets were masked in it, or the repository has lost it.
 */
export async function storedContent(
  repo: string,
  { patch, path }: SentChange,
  side: 'before' | 'after',
): Promise<string | undefined> {
  const { from, to } = /^index (?<from>[0-9a-f]{40,})\.\.(?<to>[0-9a-f]{40,})/m.exec(patch)?.groups ?? {};
  if (!from || !to || /^(?:GIT binary patch|Binary files)/m.test(patch)) {
    throw new Error(`the stored changes do not have the text of ${path}; run the eval again`);
  }
  if (NOTHING.test(side === 'before' ? from : to)) return undefined;
  const before = NOTHING.test(from) ? '' : await blobOf(repo, from, path);
  const text = side === 'before' ? before : applyPatch(before, patch);
  const id = side === 'before' ? from : to;
  if (text === false || hashBytes(Buffer.from(text), formatOf(id)) !== id) {
    throw new Error(`${path} cannot be made again from the stored changes; run the eval again`);
  }
  return text;
}

async function blobOf(repo: string, id: string, path: string): Promise<string> {
  const { gitDir } = await openRepository(repo);
  const content = await git(['cat-file', 'blob', id], { gitDir }).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw new Error(`the repository does not have ${path} as the agent found it; run the eval again`);
  });
  return content.toString('utf8');
}

/**
 * The text of a file of a commit of the repository of a run. `undefined`: there is no such file or commit, or it is longer than
 * `most` bytes.
 */
export async function committedText(
  repo: string,
  commit: string,
  path: string,
  most: number,
): Promise<string | undefined> {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  try {
    const { gitDir } = await openRepository(repo);
    const object = `${commit}:${path}`;
    const size = Number(String(await git(['cat-file', '-s', object], { gitDir })));
    if (!(size <= most)) return undefined;
    return (await git(['cat-file', 'blob', object], { gitDir })).toString('utf8');
  } catch {
    return undefined; // the repository is not here, or never had it
  }
}

/** The changes that a patch describes. */
export function storedChanges(patch: string): SentChange[] {
  if (patch === '') return [];
  return patch.split(/^(?=diff --git )/m).map((part): SentChange => {
    const [header = ''] = part.split(/^(?:@@|GIT binary patch)/m, 1);
    const from = /^rename from (.+)$/m.exec(header)?.[1];
    const path = /^rename to (.+)$/m.exec(header)?.[1] ?? / b\/(.+)$/m.exec(header)?.[1] ?? '';
    if (from !== undefined) return { path, from, status: 'renamed', patch: part };
    if (/^new file mode/m.test(header)) return { path, status: 'added', patch: part };
    if (/^deleted file mode/m.test(header)) return { path, status: 'deleted', patch: part };
    return { path, status: /^index /m.test(header) ? 'modified' : 'mode', patch: part };
  });
}
