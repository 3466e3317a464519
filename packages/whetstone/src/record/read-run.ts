import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { readAudits, type StoredAudit } from './audits.ts';
import { type JournalEntry, readJournal, type UnreadLine } from './journal.ts';
import { runLayout } from './layout.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import type { CaseRow } from './row.ts';

/** What a run directory holds. The run may still go on, or may have been interrupted. */
export type StoredRun = {
  directory: string;
  manifest: Manifest;
  rows: ReadonlyMap<string, CaseRow>;
  /** All that are kept beside the run. Default: they were not read. */
  audits?: readonly StoredAudit[];
};

/** A run as its files say. The notes of its manifest also name the journal lines of `unread`. */
export type ReadRun = StoredRun & {
  /** The cases that were started, finished or not. `undefined` if the journal has no line that can be read. */
  started: ReadonlySet<string> | undefined;
  /** The cases whose last attempt has no row: how it started. */
  interrupted: ReadonlyMap<string, StartedAttempt>;
  /** Lines of the journal that cannot be read or do not follow; of the former, those whose case has no newer row. */
  unread: readonly UnreadLine[];
};

/** How an attempt of a case started. */
export type StartedAttempt = Pick<JournalEntry & { type: 'case.started' }, 'earlier' | 'counted_calls'>;

/**
 * Reads a run directory.
 * @throws WhetstoneError `run-not-found` if it is not one, `run-unreadable` if it cannot be read.
 */
export async function readRun(directory: string): Promise<ReadRun> {
  const layout = runLayout(directory);
  const text = await readFile(layout.manifest, 'utf8').catch((error: unknown) => {
    if (!isAbsent(error)) throw unreadable(layout.manifest, error);
    throw new WhetstoneError('run-not-found', notARun(directory), {
      hint: 'Give the path of a run directory, or a run id below the output directory (.whetstone/runs).',
      cause: error,
    });
  });
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new WhetstoneError('run-unreadable', `The manifest of ${directory} cannot be read.`, {
      where: layout.manifest,
      hint: 'The file was written by another version of Whetstone, or it is damaged. You can still read the cases folder by hand.',
      cause: parsed.error,
    });
  }
  const start = chainStart(parsed.data, text);
  const lines = await readJournal(layout.journal, start).catch((error: unknown) => {
    throw unreadable(layout.journal, error);
  });
  const rows = new Map<string, CaseRow>();
  const started = new Set<string>();
  const interrupted = new Map<string, StartedAttempt>();
  let unread: UnreadLine[] = [];
  for (const line of lines) {
    if ('unread' in line) {
      unread.push(line.unread);
      continue;
    }
    const { entry } = line;
    if ('case_id' in entry) started.add(entry.case_id);
    if (entry.type === 'case.started') interrupted.set(entry.case_id, entry);
    if (entry.type !== 'case.finished') continue;
    interrupted.delete(entry.case_id);
    rows.set(entry.case_id, entry.row);
    unread = unread.filter(({ caseId, isMisfit }) => isMisfit || caseId !== entry.case_id);
  }
  const notes = [...parsed.data.notes, ...unread.map(unreadText)];
  const isReadable = lines.length > unread.length;
  return {
    ...{ directory, manifest: { ...parsed.data, notes }, rows, interrupted, unread },
    started: isReadable ? started : undefined,
    audits: await readAudits(dirname(directory)),
  };
}

export const notARun = (directory: string): string =>
  `${directory} is not a run directory: it has no manifest.json.`;

/** What the first line of the journal follows; `undefined`: the version that wrote the run chained nothing. */
export const chainStart = ({ chained }: Manifest, text: string): string | undefined =>
  chained ? text : undefined;

/** A line of the journal that cannot be read, in one sentence. */
export const unreadText = ({ line, what, caseId }: UnreadLine): string =>
  `journal.jsonl:${line} cannot be read${caseId === undefined ? '' : ` (case ${caseId})`}: it ${what}.`;

/** The rows in planned order. */
export function rowsInOrder(run: Pick<StoredRun, 'manifest' | 'rows'>): CaseRow[] {
  return run.manifest.case_matrix.flatMap((planned) => run.rows.get(planned.case_id) ?? []);
}

export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');
}

export function unreadable(path: string, cause: unknown): WhetstoneError {
  const message = `The file or folder cannot be read (${codeOf(cause) ?? cause}).`;
  return new WhetstoneError('run-unreadable', message, { where: path, cause });
}
