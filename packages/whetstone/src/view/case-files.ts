import { lstat, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { caseLayout, runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { plainText } from '../report/sanitize.ts';
import type { CaseFile, CaseFileEntry, CaseFileName } from './api.ts';
import { type Keep, readExcerpt } from './excerpt.ts';
import { openRawFile, type RawFile } from './raw-file.ts';

const LIMIT_BYTES = 1024 * 1024;

/** A case of a run; `row` is `null` while it has no result. */
export type RecordedCase = { runDirectory: string; caseId: string; row: CaseRow | null };

/** The files of a case that exist. */
export async function listCaseFiles(recorded: RecordedCase): Promise<CaseFileEntry[]> {
  const entries: CaseFileEntry[] = [];
  for (const [name, { path }] of namedFiles(recorded)) {
    const checked = await unlinkedPath(recorded, path);
    const stats = checked === undefined ? undefined : await lstat(checked).catch(() => undefined);
    if (stats?.isFile()) entries.push({ name, bytes: stats.size });
  }
  return entries;
}

/** One file of a case by its name, at most `limit` bytes of it; `undefined` when it does not exist. */
export async function readCaseFile(
  recorded: RecordedCase,
  name: string,
  limit = LIMIT_BYTES,
): Promise<CaseFile | undefined> {
  const found = await findCaseFile(recorded, name);
  if (found === undefined || found.keep === 'nothing') return undefined;
  const excerpt = await readExcerpt(found.path, found.keep, limit).catch(() => undefined);
  if (excerpt === undefined) return undefined;
  // A log was written for a terminal. Its colours and cursor moves are not content.
  const readable = found.keep === 'tail' ? plainText : (text: string) => text;
  return { name: found.name, ...excerpt, head: readable(excerpt.head), tail: readable(excerpt.tail) };
}

/** One file of a case as it is; `range` is the header of the request. `undefined` when it does not exist. */
export async function openCaseFile(
  recorded: RecordedCase,
  name: string,
  range: string | undefined,
): Promise<RawFile | undefined> {
  const found = await findCaseFile(recorded, name);
  return found && openRawFile(found.path, range).catch(() => undefined);
}

async function findCaseFile(recorded: RecordedCase, wanted: string) {
  const [name, file] = [...namedFiles(recorded)].find(([known]) => known === wanted) ?? [];
  const path = file && (await unlinkedPath(recorded, file.path));
  return name === undefined || file === undefined || path === undefined
    ? undefined
    : { name, path, keep: file.keep };
}

function namedFiles({ runDirectory, caseId, row }: RecordedCase) {
  const directory = runLayout(runDirectory).case(caseId);
  const files = caseLayout(directory);
  const named = new Map<CaseFileName, { path: string; keep: Keep | 'nothing' }>([
    ['prompt', { path: files.prompt, keep: 'head' }],
    ['patch', { path: files.patch, keep: 'head' }],
    ['answer', { path: files.outputData, keep: 'head' }],
    ['events', { path: files.events, keep: 'both' }],
    ['model-calls', { path: files.modelCalls, keep: 'both' }],
    ['exchanges', { path: files.exchanges, keep: 'nothing' }],
    ['stdout', { path: files.stdout, keep: 'tail' }],
    ['stderr', { path: files.stderr, keep: 'tail' }],
  ]);
  for (const [index, result] of (row?.validation_results ?? []).entries()) {
    named.set(`validation-${index}-stdout`, { path: join(directory, result.stdout_path), keep: 'tail' });
    named.set(`validation-${index}-stderr`, { path: join(directory, result.stderr_path), keep: 'tail' });
  }
  return named;
}

/**
 * The path, if it is in the folder of the case and no symbolic link is on the way from the run directory to it. A run
 * directory may come from anywhere, and so may its case ids and the paths in its rows.
 */
export async function unlinkedPath(
  { runDirectory, caseId }: Pick<RecordedCase, 'runDirectory' | 'caseId'>,
  path: string,
): Promise<string | undefined> {
  const { cases, case: caseDirectory } = runLayout(resolve(runDirectory));
  const wanted = resolve(path);
  const isOwn =
    wanted.startsWith(caseDirectory(caseId) + sep) && caseDirectory(caseId) === cases + sep + caseId;
  if (!isOwn) return undefined;
  const [root, real] = await Promise.all([realpath(runDirectory), realpath(wanted)]).catch(() => []);
  if (root === undefined || real === undefined) return undefined;
  return real === root + wanted.slice(resolve(runDirectory).length) ? real : undefined;
}
