import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { makeEach } from '@whetstone/sandbox/files';
import { evidenceHashes } from './file-hashes.ts';
import { openJournal } from './journal.ts';
import { type CaseLayout, caseLayout, runLayout } from './layout.ts';
import { linkFolder } from './link-folder.ts';
import type { Manifest } from './manifest.ts';
import { lastCalls } from './read-calls.ts';
import {
  chainStart,
  type ReadRun,
  readRun,
  rowsInOrder,
  type StartedAttempt,
  type StoredRun,
} from './read-run.ts';
import { type CaseRow, type EarlierAttempts, earlierAttemptsSchema } from './row.ts';
import { lockRun } from './run-lock.ts';

/** A run directory that is being written. Only one process at a time holds it. */
export interface RunRecord extends AsyncDisposable {
  readonly directory: string;
  readonly manifest: Manifest;
  /** The latest row of each case that has finished, by case id. */
  readonly rows: ReadonlyMap<string, CaseRow>;
  /** The cases whose last attempt has no row, because an earlier part of the run was interrupted: how it started. */
  readonly interrupted: ReadonlyMap<string, StartedAttempt>;
  /**
   * Makes the directory of a case. It is empty, even when an earlier attempt left files there. `earlier` has what those
   * attempts used, which their files no longer say.
   */
  startCase(id: string, earlier?: EarlierAttempts): Promise<CaseLayout>;
  retryCase(id: string, reason: { class: string; evidence: string }): Promise<void>;
  /** Resolves when the row is in the journal and the journal is on the disk. */
  finishCase(row: CaseRow): Promise<void>;
  /** Takes over the results of cases, with the files of their folders. They then count like cases that have run here. */
  reuseCases(cases: readonly ReusedCase[]): Promise<void>;
  /** Rebuilds `results.jsonl` from the rows, in planned order, and notes in the journal how the run ended. */
  finish(ended: 'finished' | 'interrupted'): Promise<void>;
}

/** A row as it will stand in this run, the run that has the files of its case, and those that are other ones here. */
export type ReusedCase = {
  row: CaseRow;
  from: { directory: string; caseId: string };
  own?: OwnFiles;
  /** A folder whose files the case gets besides. */
  more?: string;
};

/** The content of files of a case; `null`: there is no such file here. */
export type OwnFiles = Partial<Record<keyof CaseLayout, string | null>>;

/** Starts a run directory: `<run-id>/manifest.json` and a journal. Leaves nothing behind when that fails. */
export async function createRunRecord(outputDirectory: string, manifest: Manifest): Promise<RunRecord> {
  const directory = join(outputDirectory, manifest.run_id);
  const layout = runLayout(directory);
  return namingUnwritable(outputDirectory, 'making', async () => {
    try {
      makeEach(layout.cases);
      const kept: Manifest = { ...manifest, chained: true };
      await writeWhole(layout.manifest, `${JSON.stringify(kept, null, 2)}\n`);
      const { record, journal } = await openRecord(directory, kept);
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
    const { record, journal } = await openRecord(directory, run.manifest, run);
    await journal.append({ type: 'run.resumed', missing: run.manifest.case_count - run.rows.size });
    return record;
  });
}

/** Writes `results.jsonl`. Safe at any time: a reader sees either the old file or the new one. */
export async function writeResults(run: StoredRun): Promise<void> {
  const lines = rowsInOrder(run).map((row) => `${JSON.stringify(row)}\n`);
  await writeDerived(run, 'results', lines.join(''));
}

/** Writes one of the files that are made from the rows, or the tags that a person gave. */
export async function writeDerived(
  { directory }: Pick<StoredRun, 'directory'>,
  file: 'results' | 'summary' | 'report' | 'tags',
  content: string,
): Promise<void> {
  await namingUnwritable(directory, 'writing', () => writeWhole(runLayout(directory)[file], content));
}

async function openRecord(
  directory: string,
  manifest: Manifest,
  before?: Pick<ReadRun, 'rows' | 'interrupted'>,
) {
  const rows = new Map(before?.rows);
  const layout = runLayout(directory);
  const lock = await lockRun(layout.lock);
  const start = chainStart(manifest, readFileSync(layout.manifest, 'utf8'));
  const journal = await openJournal(layout.journal, start);
  const writing = <T>(write: () => Promise<T>) => namingUnwritable(directory, 'writing', write);
  const record: RunRecord = {
    directory,
    manifest,
    rows,
    interrupted: before?.interrupted ?? new Map(),
    startCase: (id, earlier) =>
      writing(async () => {
        const caseDirectory = layout.case(id);
        const files = caseLayout(caseDirectory);
        const isNew = mkdirSync(caseDirectory, { recursive: true }) !== undefined;
        const counted = isNew ? [] : lastCalls(files);
        // Before the files go: whoever kills the program in between must not lose what their calls used.
        await journal.append({
          ...{ type: 'case.started', case_id: id },
          ...(earlier && { earlier: earlierAttemptsSchema.parse(earlier) }),
          ...(counted.length > 0 && { counted_calls: counted }),
        });
        if (isNew) return files;
        await rm(caseDirectory, { recursive: true, force: true });
        mkdirSync(caseDirectory);
        return files;
      }),
    retryCase: (id, reason) =>
      writing(() => journal.append({ type: 'case.retried', case_id: id, ...reason })),
    finishCase: (finished) =>
      writing(async () => {
        const row = { ...finished, evidence_sha256: evidenceHashes(layout.case(finished.case_id)) };
        writeFileSync(caseLayout(layout.case(row.case_id)).result, `${JSON.stringify(row, null, 2)}\n`);
        await journal.append({ type: 'case.finished', case_id: row.case_id, row }, { durable: true });
        rows.set(row.case_id, row);
      }),
    reuseCases: (cases) =>
      writing(async () => {
        const reused = cases.map(({ row: before, from, own, more }) => {
          const to = layout.case(before.case_id);
          reuseFolder(runLayout(from.directory).case(from.caseId), to, { ...own, result: null });
          if (more !== undefined) replaceIn(to, more);
          const row = { ...before, evidence_sha256: evidenceHashes(to) };
          writeFileSync(caseLayout(to).result, `${JSON.stringify(row, null, 2)}\n`, { mode: 0o644 });
          return row;
        });
        const entries = reused.map((row) => ({ type: 'case.finished', case_id: row.case_id, row }) as const);
        await journal.append(entries, { durable: true });
        for (const row of reused) rows.set(row.case_id, row);
      }),
    async finish(ended) {
      await writeResults({ directory, manifest, rows });
      await writing(() => journal.append({ type: `run.${ended}`, finished: rows.size }));
    },
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      lock.release();
    },
  };
  return { record, journal };
}

/** Gives a case the files of another one, and writes those that are its own. */
function reuseFolder(from: string, to: string, own: OwnFiles): void {
  const layout = caseLayout(to);
  const files = Object.entries(own) as [keyof CaseLayout, string | null][];
  linkFolder(from, to, new Set(files.map(([name]) => basename(layout[name]))));
  for (const [name, content] of files) {
    if (content !== null) writeFileSync(layout[name], content, { mode: 0o600 });
  }
}

/** Copies a folder over another one. What is there under the same names is linked from another run, and stays as it is there. */
function replaceIn(to: string, folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(to, name), { recursive: true, force: true });
  cpSync(folder, to, { recursive: true });
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

/**
 * Runs `write` and names the folder in errors of the file system: `disk-full`, `output-unwritable` while a run
 * directory is made, `record-lost` when it can no longer be written. Other errors pass through.
 */
async function namingUnwritable<T>(
  directory: string,
  stage: 'making' | 'writing',
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const code = codeOf(error);
    const isOfSystem = error instanceof Error && 'syscall' in error && !(error instanceof WhetstoneError);
    throw isOfSystem && code !== undefined ? explain(directory, stage, code, error) : error;
  }
}

function explain(directory: string, stage: 'making' | 'writing', code: string, cause: Error): WhetstoneError {
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new WhetstoneError('disk-full', 'No space is left for the results.', {
      where: directory,
      hint:
        stage === 'making'
          ? 'Free some space, or set output_dir to a folder on another disk.'
          : 'Finished cases are kept. Free some space, then resume the run with --resume.',
      cause,
    });
  }
  if (stage === 'making') {
    return new WhetstoneError('output-unwritable', `The output folder cannot be written (${code}).`, {
      where: directory,
      hint: 'Set output_dir in the configuration to a folder that you may write to.',
      cause,
    });
  }
  return new WhetstoneError('record-lost', `The run directory can no longer be written (${code}).`, {
    where: directory,
    hint: 'Finished cases are kept in the journal. Repair the folder, then resume the run with --resume.',
    cause,
  });
}
