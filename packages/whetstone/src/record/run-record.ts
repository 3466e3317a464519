import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { type Journal, openJournal, readJournal } from './journal.ts';
import { type CaseLayout, caseLayout, runLayout } from './layout.ts';
import { acquireLock } from './lock.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import type { CaseRow } from './row.ts';
import { namingUnwritable } from './unwritable.ts';

/** A run directory that is being written. Only one process at a time holds it. */
export interface RunRecord extends AsyncDisposable {
  readonly directory: string;
  readonly manifest: Manifest;
  /** Rows of the cases that have finished, the latest of each. */
  readonly rows: ReadonlyMap<string, CaseRow>;
  /** Makes the directory of a case, empty even when an earlier try left something there. */
  startCase(id: string): Promise<CaseLayout>;
  retryCase(id: string, reason: { class: string; evidence: string }): Promise<void>;
  /** Durable when it resolves: the row is in the journal, and the journal is on the disk. */
  finishCase(row: CaseRow): Promise<void>;
  /** Rebuilds `results.jsonl` from the rows, in planned order, and says in the journal how the run ended. */
  finish(ended: 'finished' | 'interrupted'): Promise<void>;
}

/**
 * Starts a run directory under `outputDirectory`: `<run-id>/manifest.json` and a journal. One that cannot be made whole
 * is not left behind.
 */
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

/** Opens a run directory to go on with it. */
export async function resumeRunRecord(directory: string): Promise<RunRecord> {
  const run = await readRun(directory);
  return namingUnwritable(directory, 'writing', async () => {
    const { record, journal } = await openRecord(directory, run.manifest, new Map(run.rows));
    await journal.append({ type: 'run.resumed', missing: run.manifest.case_count - run.rows.size });
    return record;
  });
}

/** What a run directory holds, however its run ended. */
export type StoredRun = { directory: string; manifest: Manifest; rows: ReadonlyMap<string, CaseRow> };

/** Reads a run directory. Throws a typed error when it is not one, or may not be read. */
export async function readRun(directory: string): Promise<StoredRun> {
  const layout = runLayout(directory);
  const text = await readFile(layout.manifest, 'utf8').catch((error: unknown) => {
    if (!isAbsent(error)) throw unreadable(layout.manifest, error);
    throw new WhetstoneError(
      'run-not-found',
      `${directory} is not a run directory: it has no manifest.json.`,
      {
        hint: 'Give the path of a run directory, or a run id below the output directory (.whetstone/runs).',
        exitCode: 2,
        cause: error,
      },
    );
  });
  const parsed = manifestSchema.safeParse(safeJson(text));
  if (!parsed.success) {
    throw new WhetstoneError('run-unreadable', `The manifest of ${directory} cannot be read.`, {
      where: layout.manifest,
      hint: 'It was written by another version, or damaged. The cases folder can still be read by hand.',
      exitCode: 2,
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

/** Rows in planned order. */
export function rowsInOrder(run: Pick<StoredRun, 'manifest' | 'rows'>): CaseRow[] {
  return run.manifest.case_matrix.flatMap((planned) => run.rows.get(planned.case_id) ?? []);
}

/** Writes what derives from the journal. Safe at any time: a reader sees the old file or the new one. */
export async function writeResults(run: StoredRun): Promise<void> {
  const lines = rowsInOrder(run).map((row) => `${JSON.stringify(row)}\n`);
  await writeDerived(run, 'results', lines.join(''));
}

/** Writes one of the files that derive from the rows. */
export async function writeDerived(
  { directory }: StoredRun,
  file: 'results' | 'summary' | 'report',
  content: string,
): Promise<void> {
  await namingUnwritable(directory, 'writing', () => writeWhole(runLayout(directory)[file], content));
}

/**
 * Finds a run by path, by id or by unique beginning of an id below `outputDirectory`; `latest` is the newest.
 * Throws a typed error that lists what is there.
 */
export async function findRun(reference: string, outputDirectory: string): Promise<string> {
  const asPath = resolve(reference);
  if (await isFile(runLayout(asPath).manifest)) return asPath;
  const ids = await runIds(outputDirectory);
  const matches =
    reference === 'latest' ? ids.slice(-1) : ids.filter((id) => id === reference || id.startsWith(reference));
  const [match] = matches;
  if (matches.length === 1 && match !== undefined) return join(outputDirectory, match);
  throw new WhetstoneError(
    'run-not-found',
    matches.length > 1
      ? `${reference} stands for ${matches.length} runs: ${matches.join(', ')}.`
      : `There is no run ${reference} in ${outputDirectory}.`,
    {
      hint:
        ids.length > 0
          ? `Runs there: ${ids.slice(-5).join(', ')}.`
          : 'Start one with: whetstone run -c whetstone.yaml',
      exitCode: 2,
    },
  );
}

async function openRecord(
  directory: string,
  manifest: Manifest,
  rows: Map<string, CaseRow>,
): Promise<{ record: RunRecord; journal: Journal }> {
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

/** Writes beside and renames, so that no reader ever sees half a file. */
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

/** Ids of the runs below an output directory, the oldest first. A folder without a manifest is not a run. */
async function runIds(outputDirectory: string): Promise<string[]> {
  const names = await readdir(outputDirectory).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw unreadable(outputDirectory, error);
  });
  const areRuns = await Promise.all(
    names.map((name) => isFile(runLayout(join(outputDirectory, name)).manifest)),
  );
  return names.filter((_, index) => areRuns[index]).sort();
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function unreadable(path: string, cause: unknown): WhetstoneError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : cause;
  return new WhetstoneError('run-unreadable', `It cannot be read (${code}).`, {
    where: path,
    hint: 'See who owns it and who may read it: ls -ld',
    exitCode: 2,
    cause,
  });
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
