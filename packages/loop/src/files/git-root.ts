import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

/** The nearest folder from `start` upwards that has a `.git`: a folder, or a file in a worktree. */
export async function findGitRoot(
  environment: ExecutionEnvironment,
  start: string,
): Promise<string | undefined> {
  const paths = pathsOf(environment);
  for (let folder = start; ; folder = paths.dirname(folder)) {
    if (await environment.stat(paths.join(folder, '.git')).catch(() => undefined)) return folder;
    if (folder === paths.dirname(folder)) return undefined;
  }
}
