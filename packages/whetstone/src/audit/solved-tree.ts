import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '@whetstone/sandbox';
import { briefFolder } from '@whetstone/sandbox/files';
import { parsePatch } from 'diff';
import type { TaskConfig } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';
import { classifyPath } from '../tasks/classify-path.ts';
import type { TaskRoom } from '../tasks/task-room.ts';
import { applyPatch } from '../verify/judge-work.ts';

/** A source as it is when the task is solved. `lines`: those that the patch adds, counted from 1. */
export type SolvedSource = { path: string; text: string; lines: ReadonlySet<number> };

/** The trees of a task, in folders that are removed with it. */
export type SolvedTree = AsyncDisposable & {
  /** The tree that the agent gets, absolute. */
  base: string;
  /** The patch that solves the task, its bytes as a latin1 string; `null`: the task names none. */
  patch: string | null;
  /** The sources that it changes, without tests, and without what the hidden tests replace. */
  sources: SolvedSource[];
};

/** Writes the tree of a task, and reads what its patch makes of it. */
export async function openSolvedTree(room: TaskRoom, task: TaskConfig): Promise<SolvedTree> {
  const folder = await mkdtemp(join(tmpdir(), briefFolder()));
  try {
    const base = join(folder, 'base');
    await mkdir(base);
    await room.writeTree(task, base);
    const patch = task.goldPatch === undefined ? null : await readFile(task.goldPatch, 'latin1');
    const sources = patch === null ? [] : await solvedSources(room, task, { patch, folder });
    return { base, patch, sources, [Symbol.asyncDispose]: () => removeTree(folder) };
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}

async function solvedSources(
  room: TaskRoom,
  task: TaskConfig,
  { patch, folder }: { patch: string; folder: string },
): Promise<SolvedSource[]> {
  const added = addedLines(patch);
  const hidden = new Set(
    task.hiddenTests === undefined ? [] : (await listSource(task.hiddenTests)).map(({ path }) => path),
  );
  const wanted = [...added].filter(([path]) => classifyPath(path) === 'source' && !hidden.has(path));
  if (wanted.length === 0) return [];
  const solved = join(folder, 'solved');
  await mkdir(solved);
  await room.writeTree(task, solved);
  await applyPatch(solved, patch);
  const sources: SolvedSource[] = [];
  for (const [path, lines] of wanted) {
    const bytes = await readFile(join(solved, path)).catch(() => undefined);
    const text = bytes?.toString();
    if (bytes && text !== undefined && Buffer.from(text).equals(bytes)) sources.push({ path, text, lines });
  }
  return sources;
}

/** The lines that a patch adds, by the path that their file has afterwards. */
export function addedLines(patch: string): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const { newFileName, hunks } of parsePatch(Buffer.from(patch, 'latin1').toString())) {
    const path = newFileName?.replace(/^b\//, '').replace(/\t.*$/, '');
    if (path === undefined || path === '/dev/null' || path.startsWith('"')) continue;
    const lines = found.get(path) ?? new Set<number>();
    found.set(path, lines);
    for (const { newStart, lines: changes } of hunks) {
      let at = newStart;
      for (const change of changes) {
        if (change.startsWith('+')) lines.add(at);
        if (change.startsWith('+') || change.startsWith(' ')) at += 1;
      }
    }
  }
  return found;
}
