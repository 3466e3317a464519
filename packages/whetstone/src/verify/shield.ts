import type { TaskConfig } from '../config/config.ts';
import { changeableIn, isProtectedByDefault } from '../config/default-protected-paths.ts';
import { protectedBy } from '../config/protected-paths.ts';
import { listSource } from '../config/source-tree.ts';

/**
 * The paths at which changes of the agent do not count: those that the task names, those of the hidden tests, and those that
 * decide what runs, as far as the task does not leave them to the agent.
 */
export async function shieldOf(task: TaskConfig): Promise<(path: string) => boolean> {
  const { hiddenTests } = task;
  const isOfBase = keptFromBase(task);
  const hidden = new Set(
    hiddenTests === undefined ? [] : (await listSource(hiddenTests)).map(({ path }) => path),
  );
  return (path) => hidden.has(path) || isOfBase(path);
}

/** The same, without those of the hidden tests. */
export function keptFromBase(task: TaskConfig): (path: string) => boolean {
  const isNamed = protectedBy(task.protectedPaths);
  const isChangeable = changeableIn(task);
  return (path) => isNamed(path) || (isProtectedByDefault(path) && !isChangeable(path));
}
