import { isUnder } from '@whetstone/sandbox';
import { realPathOf, type SeenPlace } from '../policy/real-path.ts';

/**
 * Where a path that a prompt names really lies, as the agent sees it; `undefined` if that is outside the workspace, where
 * an agent would get the file beside every permission.
 */
export async function workspaceFile(
  path: string,
  workdir: string,
  place?: SeenPlace,
): Promise<string | undefined> {
  const [root, file] = [await realPathOf('.', workdir, place), await realPathOf(path, workdir, place)];
  return isUnder(root.real, file.real) ? file.real : undefined;
}
