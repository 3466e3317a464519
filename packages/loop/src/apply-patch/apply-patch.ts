import { present } from '@whetstone/events/present';
import { resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { changeFiles, type FileChange } from '../files/change-files.ts';
import { canonicalPath, readFile, refuseSpecial, statFile, withFileLocks } from '../files/file-access.ts';
import { decodeTextFile, encodeTextFile } from '../files/text-file.ts';
import { applyChunks } from './apply-chunks.ts';
import { type PatchSection, parsePatch } from './parse-patch.ts';

/** What a patch has done to one file. */
export type PatchChange = {
  change: 'added' | 'modified' | 'deleted' | 'renamed';
  path: string;
  from?: string;
};

/** `notes` report where the patch was applied although it did not match exactly. */
export type PatchOutcome = { changes: PatchChange[]; notes: string[] };

/**
 * Applies a patch in the format of Codex's `apply_patch`, as a whole. All sections are checked against the files before
 * anything is written; deleted files are removed last. Throws, with nothing changed, where the patch does not parse or
 * does not fit, or where one of its changes fails.
 */
export async function applyPatch(environment: ExecutionEnvironment, text: string): Promise<PatchOutcome> {
  const sections = parsePatch(text);
  if (sections.length === 0) throw new Error('No files were modified: the patch has no sections.');
  const paths = sections.flatMap(pathsOfSection);
  return await withFileLocks(environment, paths, async () => {
    await refuseRepeatedPaths(environment, sections);
    const planned: PlannedChange[] = [];
    for (const section of sections) planned.push(await plan(environment, section));
    await changeFiles(environment, fileChanges(planned));
    return {
      changes: planned.map(({ change }) => change),
      notes: planned.flatMap(({ note }) => (note === undefined ? [] : [note])),
    };
  });
}

type PlannedChange = {
  change: PatchChange;
  target?: string;
  content?: Uint8Array;
  /** What `target` had when the patch was checked. */
  read?: Uint8Array;
  mode?: number;
  removed?: string;
  note?: string;
};

function pathsOfSection(section: PatchSection): string[] {
  return section.kind === 'update' && section.moveTo !== undefined
    ? [section.path, section.moveTo]
    : [section.path];
}

async function refuseRepeatedPaths(
  environment: ExecutionEnvironment,
  sections: readonly PatchSection[],
): Promise<void> {
  const seen = new Set<string>();
  for (const section of sections) {
    const own = new Set<string>();
    for (const path of pathsOfSection(section)) own.add(await canonicalPath(environment, path));
    for (const path of own) {
      if (seen.has(path)) throw new Error(`multiple operations target ${path}; put them into one section`);
      seen.add(path);
    }
  }
}

async function plan(environment: ExecutionEnvironment, section: PatchSection): Promise<PlannedChange> {
  const { path } = section;
  if (path === '') throw new Error('a section has no path');
  switch (section.kind) {
    case 'add': {
      await refuseNoFile(environment, path);
      const content = new TextEncoder().encode(section.lines.map((line) => `${line}\n`).join(''));
      return { change: { change: 'added', path }, target: path, content };
    }
    case 'delete':
      await statFile(environment, path);
      return { change: { change: 'deleted', path }, removed: path };
    case 'update':
      return await planUpdate(environment, section);
  }
}

async function planUpdate(
  environment: ExecutionEnvironment,
  section: Extract<PatchSection, { kind: 'update' }>,
): Promise<PlannedChange> {
  const { path, moveTo, chunks } = section;
  const { mode } = await statFile(environment, path);
  const read = await readFile(environment, path);
  const file = decodeTextFile(read, path);
  const patched = applyChunks(file.text, chunks, path);
  const content = encodeTextFile({ ...file, text: patched.text });
  const note =
    patched.addedAtEnd > 0 ? `${path}: lines without context were added at the end of the file` : undefined;
  const rest = { content, ...present({ mode, note }) };
  if (moveTo === undefined || (await isSameFile(environment, path, moveTo)))
    return { change: { change: 'modified', path }, target: path, read, ...rest };
  await refuseNoFile(environment, moveTo);
  const change: PatchChange = { change: 'renamed', path: moveTo, from: path };
  return { change, target: moveTo, removed: path, ...rest };
}

/** A move onto itself has to be an edit in place: writing and then removing would lose the file. */
async function isSameFile(environment: ExecutionEnvironment, left: string, right: string): Promise<boolean> {
  return (await canonicalPath(environment, left)) === (await canonicalPath(environment, right));
}

async function refuseNoFile(environment: ExecutionEnvironment, path: string): Promise<void> {
  const found = await environment.stat(resolvePath(environment, path));
  if (found) refuseSpecial(found, path);
}

/** Files are removed last, when every new content is in place. */
function fileChanges(planned: readonly PlannedChange[]): FileChange[] {
  const writes = planned.flatMap(({ target, content, mode, read }): FileChange[] =>
    target === undefined || !content
      ? []
      : [{ kind: 'write', path: target, content, ...present({ mode, read }) }],
  );
  const removals = planned.flatMap(({ removed }): FileChange[] =>
    removed === undefined ? [] : [{ kind: 'remove', path: removed }],
  );
  return [...writes, ...removals];
}
