import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openJournal } from './journal.ts';
import { type CaseLayout, caseLayout, runLayout } from './layout.ts';
import { acquireLock } from './lock.ts';
import type { Manifest } from './manifest.ts';
import { readRun, rowsInOrder, type StoredRun } from './read-run.ts';
import type { CaseRow } from './row.ts';
import { namingUnwritable } from './write-failure.ts';

/** A run directory that is being written. Only one process at a time holds it. */
export interface RunRecord extends AsyncDisposable {
  readonly directory: string;
  readonly manifest: Manifest;
  /** The latest row of each case that has finished, by case id. */
  readonly rows: ReadonlyMap<string, CaseRow>;
  /** Makes the directory of a case. It is empty, even when an earlier attempt left files there. */
  startCase(id: string): Promise<CaseLayout>;
  retryCase(id: string, reason: { class: string; evidence: string }): Promise<void>;
  /** Resolves when the row is in the journal and the journal is on the disk. */
  finishCase(row: CaseRow): Promise<void>;
  /** Rebuilds `results.jsonl` from the rows, in planned order, and notes in the journal how the run ended. */
  finish(ended: 'finished' | 'interrupted'): Promise<void>;
}

/** Starts a run directory: `<run-id>/manifest.json` and a journal. Leaves nothing behind when that fails. */
export async function createRunRecord(outputDirectory: string, manifest: Manifest): Promise<RunRecord> {
  const directory = join(outputDirectory, manifest.run_id);
  const layout = runLayout(directory);
  return namingUnwritable(outputDirectory, 'making', async () => {
    try {
      await mkdir(layout.cases, { recursive: true });
      await writeWhole(layout.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
      const { record, journal } = await openRecord(directory, manifest, new Map());
      await journal.append({
        type: 'run.started',
        run_id: manifest.run_id,
        case_count: manifest.case_count,
      });
      return record;
    } catch (error) {
      await rm(directory, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
  });
}

/** Opens the directory of a run to resume it. */
export async function resumeRunRecord(directory: string): Promise<RunRecord> {
  const run = await readRun(directory);
  return namingUnwritable(directory, 'writing', async () => {
    const { record, journal } = await openRecord(directory, run.manifest, new Map(run.rows));
    await journal.append({ type: 'run.resumed', missing: run.manifest.case_count - run.rows.size });
    return record;
  });
}

/** Writes `results.jsonl`. Safe at any time: a reader sees either the old file or the new one. */
export async function writeResults(run: StoredRun): Promise<void> {
  const lines = rowsInOrder(run).map((row) => `${JSON.stringify(row)}\n`);
  await writeDerived(run, 'results', lines.join(''));
}

/** Writes one of the files that are made from the rows. */
export async function writeDerived(
  { directory }: StoredRun,
  file: 'results' | 'summary' | 'report',
  content: string,
): Promise<void> {
  await namingUnwritable(directory, 'writing', () => writeWhole(runLayout(directory)[file], content));
}

async function openRecord(directory: string, manifest: Manifest, rows: Map<string, CaseRow>) {
  const layout = runLayout(directory);
  const lock = await acquireLock(layout.lock);
  const journal = await openJournal(layout.journal);
  const writing = <T>(write: () => Promise<T>) => namingUnwritable(directory, 'writing', write);
  const record: RunRecord = {
    directory,
    manifest,
    rows,
    startCase: (id) =>
      writing(async () => {
        const caseDirectory = layout.case(id);
        await rm(caseDirectory, { recursive: true, force: true });
        await mkdir(caseDirectory, { recursive: true });
        await journal.append({ type: 'case.started', case_id: id });
        return caseLayout(caseDirectory);
      }),
    retryCase: (id, reason) =>
      writing(() => journal.append({ type: 'case.retried', case_id: id, ...reason })),
    finishCase: (row) =>
      writing(async () => {
        await writeFile(caseLayout(layout.case(row.case_id)).result, `${JSON.stringify(row, null, 2)}\n`);
        await journal.append({ type: 'case.finished', case_id: row.case_id, row }, { durable: true });
        rows.set(row.case_id, row);
      }),
    async finish(ended) {
      await writeResults({ directory, manifest, rows });
      await writing(() => journal.append({ type: `run.${ended}`, finished: rows.size }));
    },
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      await lock.release();
    },
  };
  return { record, journal };
}

/** Writes to a temporary file and renames it, so that no reader sees half a file. */
async function writeWhole(file: string, content: string): Promise<void> {
  const beside = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(beside, content);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}
