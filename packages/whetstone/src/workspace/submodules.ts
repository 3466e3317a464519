import { listCommit } from './list-commit.ts';
import { openRepository } from './repository.ts';
import { displayPath } from './tree-path.ts';
import { type Withheld, withheldBy } from './withheld.ts';

export const emptySubmodules = (paths: readonly string[]): string =>
  `Submodules are empty folders in every workspace: ${paths.join(', ')}.`;

/** The submodules of commits, without those that are withheld. Makes no tree. */
export async function listSubmodules(
  repo: string,
  commits: readonly string[],
  withheld: readonly Withheld[],
): Promise<string[]> {
  const { gitDir } = await openRepository(repo);
  const found = new Set<string>();
  for (const commit of new Set(commits)) {
    const entries = await listCommit(gitDir, commit, withheldBy(withheld));
    for (const [path, { mode }] of entries) if (mode === '160000') found.add(displayPath(path));
  }
  return [...found];
}
