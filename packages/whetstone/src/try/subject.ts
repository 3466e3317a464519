import { existsSync, realpathSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { isInstructionFile, isRootInstructionFile } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { makeEach } from '@whetstone/sandbox/files';
import { meantPath } from '../config/meant-path.ts';
import { hashSource } from '../config/source-tree.ts';
import { writeEntry } from '../workspace/edit-tree.ts';
import { listCommit } from '../workspace/list-commit.ts';
import { readBlobs } from '../workspace/read-blobs.ts';
import type { Repository } from '../workspace/repository.ts';
import { displayPath, pathBytes } from '../workspace/tree-path.ts';

/** What is tried: a file with instructions, or the folder of a skill. */
export type Subject = {
  kind: 'instructions' | 'skill';
  /** As a person knows it: the path in the repository, else the name. */
  name: string;
  /** The file or folder on disk, absolute. A symlink is followed. */
  source: string;
  /** Where it belongs in the tree. Absent: no place of its own, so each agent gets it where it looks. */
  path?: string;
};

/** What a commit has at the place of the subject. */
export type Committed = 'nothing' | 'the same' | 'another version';

/** @throws WhetstoneError `try-subject-invalid` */
export async function readSubject(given: string, cwd: string, { workTree }: Repository): Promise<Subject> {
  const named = resolve(cwd, given);
  if (!existsSync(named)) throw invalid(named, 'This file or folder does not exist.', meantPath(named));
  const found = realpathSync(named);
  const source = basename(found) === 'SKILL.md' ? dirname(found) : found;
  const isFolder = statSync(source).isDirectory();
  const inside = relative(realpathSync(workTree), source).split(sep).join('/');
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith('../');
  const name = isInside ? inside : basename(source);
  if (isFolder) {
    if (!existsSync(join(source, 'SKILL.md'))) throw invalid(source, 'This folder has no SKILL.md.');
    return { kind: 'skill', name, source, ...(isInside && { path: inside }) };
  }
  if (!['.md', '.markdown', '.txt'].includes(extname(source).toLowerCase())) {
    throw invalid(source, 'This file is not Markdown or text.');
  }
  const text = await readFile(source, 'utf8');
  if (text.trim() === '') throw invalid(source, 'This file is empty.');
  const isPlaced = isInside ? isInstructionFile(inside) : isRootInstructionFile(name);
  return { kind: 'instructions', name, source, ...(isPlaced && { path: name }) };
}

const invalid = (
  where: string,
  why: string,
  hint = 'Name a file with instructions, such as AGENTS.md, or the folder of a skill.',
): WhetstoneError =>
  new WhetstoneError('try-subject-invalid', why, {
    where,
    hint,
  });

/** Writes what the commit has at the place of the subject to `target`, and compares it. */
export async function compareWithCommit(
  { path, source }: Subject,
  { gitDir, commit }: { gitDir: string; commit: string },
  target: string,
): Promise<Committed> {
  await rm(target, { recursive: true, force: true });
  if (path === undefined) return 'nothing';
  const wanted = pathBytes(path);
  const files = [...(await listCommit(gitDir, commit, () => false))].filter(
    ([file, { mode }]) => mode !== '160000' && (file === wanted || file.startsWith(`${wanted}/`)),
  );
  if (files.length === 0) return 'nothing';
  const folder = dirname(target);
  makeEach(folder);
  const oids = files.map(([, { oid }]) => oid);
  await readBlobs(gitDir, oids, async (content, index) => {
    const [file = '', { mode = '100644' } = {}] = files[index] ?? [];
    const below = pathBytes(basename(target)) + file.slice(wanted.length);
    await writeEntry(folder, { path: below, mode: mode as '100644' }, content);
  });
  // A link in the tree leads to a file that is tried under its own path.
  if (files.some(([file, { mode }]) => mode === '120000' && displayPath(file) === path)) return 'nothing';
  return (await hashSource(target)) === (await hashSource(source)) ? 'the same' : 'another version';
}
