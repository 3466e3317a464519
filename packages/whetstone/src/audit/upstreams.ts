import { git } from '../workspace/git.ts';
import { openRepository } from '../workspace/repository.ts';

/** The addresses of the remotes of a repository. An agent knows them from the name of the project. */
export async function upstreamsOf(repo: string): Promise<string[]> {
  const { gitDir } = await openRepository(repo);
  const listed = await git(['config', '--get-regexp', String.raw`^remote\..*\.url$`], {
    gitDir,
    accepts: [1],
  });
  return [
    ...new Set(
      listed
        .toString()
        .split('\n')
        .flatMap((line) => /^\S+ (.+)$/.exec(line)?.[1] ?? []),
    ),
  ].slice(0, 3);
}
