import { WhetstoneError } from '@whetstone/errors';
import picomatch from 'picomatch';
import { askGit } from './ask-git.ts';
import type { TaskConfig } from './config.ts';
import { listSource } from './source-tree.ts';

/** Whether patterns protect a path: those that it matches, and those that a folder matches in which it is. */
export function protectedBy(patterns: readonly string[]): (path: string) => boolean {
  const named = patterns.map((pattern) => pattern.replace(/\/+$/, ''));
  return picomatch([...named, ...named.map((folder) => `${folder}/**`)], { dot: true });
}

/** What the patterns of a task protect in a tree. `files`: how many of its files. */
export type ProtectedFiles = { task: string; pattern: string; files: number };

/** What the patterns of each task protect in the tree that it starts from. `commitOf`: a commit or a ref of the task. */
export async function protectedFiles(
  repository: string,
  tasks: readonly TaskConfig[],
  commitOf: (task: TaskConfig) => string,
): Promise<ProtectedFiles[]> {
  const trees = new Map<string, Promise<string[]>>();
  const found: ProtectedFiles[] = [];
  for (const task of tasks.filter(({ protectedPaths }) => protectedPaths.length > 0)) {
    const commit = commitOf(task);
    const tree = trees.get(commit) ?? pathsAt(repository, commit);
    trees.set(commit, tree);
    const paths = [...(await tree), ...(await laidPaths(task))];
    for (const pattern of task.protectedPaths) {
      found.push({ task: task.id, pattern, files: paths.filter(protectedBy([pattern])).length });
    }
  }
  return found;
}

/**
 * Refuses patterns that protect nothing: whoever wrote them relies on them.
 * @throws WhetstoneError `protected-paths-unmatched`
 */
export async function requireProtectedFiles(...input: Parameters<typeof protectedFiles>): Promise<void> {
  const unmatched = (await protectedFiles(...input)).find(({ files }) => files === 0);
  if (!unmatched) return;
  const { task, pattern } = unmatched;
  const message = `protected_paths of task ${task}: ${pattern} matches no file of its tree.`;
  throw new WhetstoneError('protected-paths-unmatched', message);
}

/** What a task brings to the tree of its commit: the targets of its overlays, and its hidden tests. */
async function laidPaths({ overlays = [], hiddenTests }: TaskConfig): Promise<string[]> {
  const sources = [
    ...overlays.flatMap((one) => (one.kind === 'copy' ? [{ source: one.source, target: one.target }] : [])),
    ...(hiddenTests === undefined ? [] : [{ source: hiddenTests, target: '' }]),
  ];
  const found: string[] = [];
  for (const { source, target } of sources) {
    const entries = await listSource(source);
    found.push(...entries.map(({ path }) => [target, path].filter((part) => part !== '').join('/')));
  }
  return found;
}

/** The paths of all files in the tree that a ref names. */
async function pathsAt(repository: string, ref: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', ref];
  const listed = await askGit(repository, args);
  return listed.kind === 'output' ? listed.output.split('\0').filter((name) => name !== '') : [];
}
