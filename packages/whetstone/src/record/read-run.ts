import { readFile } from 'node:fs/promises';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { readJournal } from './journal.ts';
import { runLayout } from './layout.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import type { CaseRow } from './row.ts';

/** What a run directory holds. The run may still go on, or may have been interrupted. */
export type StoredRun = { directory: string; manifest: Manifest; rows: ReadonlyMap<string, CaseRow> };

/**
 * Reads a run directory.
 * @throws WhetstoneError `run-not-found` if it is not one, `run-unreadable` if it cannot be read.
 */
export async function readRun(directory: string): Promise<StoredRun> {
  const layout = runLayout(directory);
  const text = await readFile(layout.manifest, 'utf8').catch((error: unknown) => {
    if (!isAbsent(error)) throw unreadable(layout.manifest, error);
    const message = `${directory} is not a run directory: it has no manifest.json.`;
    throw new WhetstoneError('run-not-found', message, {
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
  const rows = new Map<string, CaseRow>();
  const entries = await readJournal(layout.journal).catch((error: unknown) => {
    throw unreadable(layout.journal, error);
  });
  for (const entry of entries) {
    if (entry.type === 'case.finished') rows.set(entry.case_id, entry.row);
  }
  return { directory, manifest: parsed.data, rows };
}

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
