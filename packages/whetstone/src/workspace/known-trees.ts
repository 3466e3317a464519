/**
 * The trees of the commits that this process has looked up: what a commit names never changes, and to ask Git for it once more
 * starts a process.
 */
const trees = new Map<string, string>();

export function rememberTree(commit: string, tree: string): void {
  trees.set(commit, tree);
}

/** The id of the tree of a commit. */
export function knownTree(commit: string): string | undefined {
  return trees.get(commit);
}
