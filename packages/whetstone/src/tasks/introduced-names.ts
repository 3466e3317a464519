import { git } from '../workspace/git.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import type { Draft } from './draft.ts';

/** Identifiers that the tree at the base does not have anywhere. */
export type IntroducedNames = {
  /** In the patch and in the tests: whoever solves the task has to know them. */
  needed: string[];
  /** Only in the patch: whoever knows them knows a part of the answer. */
  own: string[];
};

const NAME = /[A-Za-z_$][\w$]{3,}/g;
const namesIn = (text: string): Set<string> => new Set(text.match(NAME) ?? []);

/** Finds the identifiers that the patch of a draft adds to its repository. */
export async function introducedNames(repo: string, draft: Draft): Promise<IntroducedNames> {
  const added = draft.goldPatch.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
  const names = [...namesIn(codeOf(added.join('\n')))];
  const known = await namesAt(repo, draft.base, names);
  const introduced = names.filter((name) => !known.has(name));
  const inTests = namesIn(draft.testFiles.map(({ content }) => content.toString()).join('\n'));
  return {
    needed: introduced.filter((name) => inTests.has(name)),
    own: introduced.filter((name) => !inTests.has(name)),
  };
}

/** Comments and text are words, not names of the program. */
const codeOf = (text: string): string =>
  text.replace(/\/\/.*|^\+\s*[*#].*/gm, '').replace(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g, '');

async function namesAt(repo: string, commit: string, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { gitDir, workTree } = await openRepository(repo);
  // `git grep` has no `--end-of-options` in every version of git.
  const id = await resolveCommit(repo, commit);
  const patterns = names.flatMap((name) => ['-e', name]);
  const found = await git(['grep', '-h', '-o', '-w', '-F', '--no-color', ...patterns, id], {
    gitDir,
    cwd: workTree,
  }).catch(() => Buffer.alloc(0)); // git exits with 1 where nothing matches
  return new Set(found.toString().split('\n').filter(Boolean));
}
