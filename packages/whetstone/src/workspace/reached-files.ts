import { lstat, readFile, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { OverlayOperation } from '../config/config.ts';
import { git } from './git.ts';

/** What a path of a tree holds: the target of a symlink, or the text of a file. */
type Content = { kind: 'link' | 'file'; text: string };

/** The tree of a commit. */
export type CommitTree = {
  gitDir: string;
  /** Mode and blob id by path, in bytes. */
  entries: ReadonlyMap<string, { mode: string; oid: string }>;
  /** Texts that were read already, by blob id. */
  blobs: Map<string, Promise<string>>;
};

/** How deep imports are followed; Claude Code stops there. */
const DEPTH = 5;

/**
 * The files that instruction files of a tree with overlays lead to: as symlinks and, with `imports`, where they name a
 * file as `@path`.
 */
export async function reachedFiles(
  tree: CommitTree,
  overlays: readonly OverlayOperation[],
  { from, imports = false }: { from: readonly string[]; imports?: boolean | undefined },
): Promise<string[]> {
  const reached = new Set(from);
  let contents = await contentsOf(tree, overlays, from);
  for (let depth = 0; depth < DEPTH && contents.size > 0; depth += 1) {
    const named = [...contents].flatMap(([path, content]) => namedIn(path, content, imports));
    const next = [...new Set(named)].filter((path) => !reached.has(path));
    contents = await contentsOf(tree, overlays, next);
    for (const path of contents.keys()) reached.add(path);
  }
  return [...reached].slice(from.length);
}

function namedIn(path: string, content: Content, imports: boolean): string[] {
  const beside = (name: string) => posix.normalize(posix.join(posix.dirname(path), name));
  if (content.kind === 'link') return [beside(content.text)];
  if (!imports) return [];
  return [...content.text.matchAll(/(?:^|\s)@([^\s`]+)/g)].map(([, name = '']) =>
    beside(name.replace(/[.,;:)]+$/, '')),
  );
}

/** Of those that exist. */
async function contentsOf(
  tree: CommitTree,
  overlays: readonly OverlayOperation[],
  paths: readonly string[],
): Promise<Map<string, Content>> {
  const contents = new Map<string, Content>();
  for (const path of paths) {
    const content = await contentOf(tree, overlays, path);
    if (content) contents.set(path, content);
  }
  return contents;
}

/** The last overlay that concerns the path decides. */
async function contentOf(
  tree: CommitTree,
  overlays: readonly OverlayOperation[],
  path: string,
): Promise<Content | undefined> {
  const last = overlays.at(-1);
  if (!last) return committed(tree, path);
  const before = () => contentOf(tree, overlays.slice(0, -1), path);
  if (last.kind === 'remove') {
    const isGone = last.paths.some((target) => restBelow(target, path) !== undefined);
    return isGone ? undefined : before();
  }
  const rest = restBelow(last.target, path);
  if (rest === undefined) return before();
  switch (last.kind) {
    case 'copy':
      return readSource(join(last.source, rest));
    case 'write':
      return { kind: 'file', text: last.text };
    case 'append': {
      const content = await before();
      return content?.kind === 'link'
        ? content
        : { kind: 'file', text: `${content?.text ?? ''}\n${last.text}` };
    }
  }
}

/** What is left of a path below a target: nothing where they are equal; `undefined` where it is not below. */
function restBelow(target: string, path: string): string | undefined {
  const folder = target.replace(/\/+$/, '');
  if (path === folder) return '';
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

async function readSource(source: string): Promise<Content | undefined> {
  const found = await lstat(source).catch(() => undefined);
  if (found?.isSymbolicLink()) return { kind: 'link', text: await readlink(source) };
  return found?.isFile() ? { kind: 'file', text: await readFile(source, 'utf8') } : undefined;
}

async function committed({ gitDir, entries, blobs }: CommitTree, path: string): Promise<Content | undefined> {
  const entry = entries.get(path);
  if (!entry) return undefined;
  const { mode, oid } = entry;
  const reading =
    blobs.get(oid) ?? git(['cat-file', 'blob', oid], { gitDir }).then((text) => text.toString());
  blobs.set(oid, reading);
  return { kind: mode === '120000' ? 'link' : 'file', text: await reading };
}
