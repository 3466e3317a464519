import picomatch from 'picomatch';
import { askGit } from './ask-git.ts';
import type { TaskConfig } from './config.ts';

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
    const paths = await tree;
    for (const pattern of task.protectedPaths) {
      found.push({ task: task.id, pattern, files: paths.filter(protectedBy([pattern])).length });
    }
  }
  return found;
}

/** The paths of all files in the tree that a ref names. */
async function pathsAt(repository: string, ref: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', ref];
  const listed = await askGit(repository, args);
  return listed.kind === 'output' ? listed.output.split('\0').filter((name) => name !== '') : [];
}
