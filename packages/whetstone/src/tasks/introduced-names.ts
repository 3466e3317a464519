import { git } from '../workspace/git.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import type { Draft } from './draft.ts';

/** Identifiers that the tree at the start of a task does not have anywhere. */
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
  const changed = [...draft.start, ...draft.earlierTests];
  const known = await namesAt(repo, draft.base, { names, except: changed.map(({ path }) => path) });
  for (const { content } of changed) for (const name of namesIn(String(content ?? ''))) known.add(name);
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

/**
 * Names per pattern. Git tries each pattern at each place, so 287 patterns took 13 seconds in 700 KB. One pattern of 5,000
 * names takes 500 MB.
 */
const NAMES_AT_ONCE = 500;

async function namesAt(
  repo: string,
  commit: string,
  { names, except }: { names: readonly string[]; except: readonly string[] },
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { gitDir, workTree } = await openRepository(repo);
  // `git grep` has no `--end-of-options` in every version of git.
  const id = await resolveCommit(repo, commit);
  const patterns = Array.from({ length: Math.ceil(names.length / NAMES_AT_ONCE) }, (_, index) => {
    const some = names.slice(index * NAMES_AT_ONCE, (index + 1) * NAMES_AT_ONCE);
    return ['-e', some.map((name) => name.replaceAll('$', '\\$')).join('|')];
  });
  const paths = ['.', ...except.map((path) => `:(exclude,top,literal)${path}`)];
  const grep = ['grep', '-h', '-o', '-w', '-E', '--no-color', ...patterns.flat(), id, '--', ...paths];
  const found = await git(grep, { gitDir, cwd: workTree, accepts: [1] });
  return new Set(found.toString().split('\n').filter(Boolean));
}
