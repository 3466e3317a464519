import { lstat, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { runLayout } from '../record/layout.ts';
import { isLocked } from '../record/lock-file.ts';
import { type ReadRun, readRun, rowsInOrder } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { readTags } from '../record/tags.ts';
import { summarize } from '../report/summarize.ts';
import type { CaseDetail, ReadableRun, RunDetail, RunEntry, RunList, RunState } from './api.ts';
import { listCaseFiles } from './case-files.ts';
import { caseEntry, caseTable } from './case-table.ts';

const RUNS_LISTED = 100;
const RUNS_KEPT = 8;
const PATHS_SHOWN = 1000;

/** The runs below an output directory. A run is read again only when it has changed. */
export interface StoredRuns {
  list(): Promise<RunList>;
  /** `undefined` when the output directory has no run with that id. @throws WhetstoneError `run-unreadable` */
  find(id: string): Promise<LoadedRun | undefined>;
  /** Changes whenever the run does; without an id, whenever any of them does. `undefined` where there is no such run. */
  revision(id?: string): Promise<string | undefined>;
}

export type LoadedRun = { run: ReadRun; detail: RunDetail };

export function openStoredRuns(outputDirectory: string): StoredRuns {
  const loaded = new Map<string, { revision: string; run: Promise<LoadedRun> }>();
  const entries = new Map<string, { revision: string; entry: RunEntry }>();

  const load = (id: string, revision: string, lock: LockState): Promise<LoadedRun> => {
    const known = loaded.get(id);
    loaded.delete(id);
    const run = known?.revision === revision ? known.run : loadRun(join(outputDirectory, id), id, lock);
    run.catch(() => loaded.delete(id)); // the next request may succeed
    loaded.set(id, { revision, run }); // moved to the end, so that the first entry is the least recently used
    const [oldest] = loaded.keys();
    if (loaded.size > RUNS_KEPT && oldest !== undefined) loaded.delete(oldest);
    return run;
  };

  const entryOf = async (id: string): Promise<RunEntry> => {
    const directory = join(outputDirectory, id);
    const { revision, lock } = await revisionOf(directory);
    const known = entries.get(id);
    if (known?.revision === revision) return known.entry;
    const held = loaded.get(id);
    const run = held?.revision === revision ? held.run : loadRun(directory, id, lock);
    const entry = await run.then(({ detail }) => readableEntry(detail), unreadableEntry(id));
    entries.set(id, { revision, entry });
    return entry;
  };

  return {
    async list() {
      const ids: string[] = [];
      for (const name of await folders(outputDirectory)) {
        if (await hasManifest(join(outputDirectory, name))) ids.push(name);
      }
      for (const id of entries.keys()) if (!ids.includes(id)) entries.delete(id);
      const runs: RunEntry[] = [];
      for (const id of ids.slice(0, RUNS_LISTED)) runs.push(await entryOf(id));
      return { runs, older: Math.max(0, ids.length - RUNS_LISTED) };
    },
    async revision(id) {
      const ids = (await folders(outputDirectory)).filter((name) => id === undefined || name === id);
      if (id !== undefined && ids.length === 0) return undefined;
      const of = (name: string) => revisionOf(join(outputDirectory, name));
      const all = await Promise.all(ids.slice(0, RUNS_LISTED).map(of));
      return [ids.length, ...all.map(({ revision }) => revision)].join('\n');
    },
    async find(id) {
      if (!(await folders(outputDirectory)).includes(id)) return undefined;
      const directory = join(outputDirectory, id);
      if (!(await hasManifest(directory))) return undefined;
      const { revision, lock } = await revisionOf(directory);
      return load(id, revision, lock);
    },
  };
}

/**
 * One run by its directory.
 * @throws WhetstoneError `run-not-found`, `run-unreadable`
 */
export async function loadRunDirectory(directory: string): Promise<LoadedRun> {
  const { lock } = await revisionOf(directory);
  return loadRun(directory, basename(resolve(directory)), lock);
}

/** One case of a run in full; `undefined` when the plan has no case with that id. */
export async function caseDetail(
  { run, detail }: LoadedRun,
  caseId: string,
): Promise<CaseDetail | undefined> {
  const line = detail.cases.lines.find(([id]) => id === caseId);
  if (line === undefined) return undefined;
  const row = run.rows.get(caseId) ?? null;
  const files = await listCaseFiles({ runDirectory: run.directory, caseId, row });
  return {
    run: detail.id,
    state: detail.state,
    planned: caseEntry(detail.cases, line),
    row: row && shortened(row),
    files,
  };
}

const shortened = (row: CaseRow): CaseRow => ({
  ...row,
  touched_paths: row.touched_paths.slice(0, PATHS_SHOWN),
});

/** Folder names, the newest run first, because ids begin with their time. Symbolic links are left out. */
async function folders(outputDirectory: string): Promise<string[]> {
  const entries = await readdir(outputDirectory, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .reverse();
}

const hasManifest = (directory: string): Promise<boolean> => isRegularFile(runLayout(directory).manifest);

/** Whether a live process works on a run. */
type LockState = 'held' | 'free';

/** Changes whenever the run changes: size and time of its files, and whether a process works on the run. */
async function revisionOf(directory: string): Promise<{ revision: string; lock: LockState }> {
  const layout = runLayout(directory);
  const stampOf = async (file: string) => {
    const stats = await lstat(file).catch(() => undefined);
    return stats ? `${stats.size}@${stats.mtimeMs}` : 'none';
  };
  const stamps = await Promise.all([layout.manifest, layout.journal, layout.tags].map(stampOf));
  const lock = isLocked(layout.lock) ? 'held' : 'free';
  return { revision: [...stamps, lock].join(' '), lock };
}

async function loadRun(directory: string, id: string, lock: LockState): Promise<LoadedRun> {
  const { journal } = runLayout(directory);
  if (!(await isRegularFile(journal))) {
    throw new WhetstoneError('run-unreadable', 'This run has no journal.', {
      where: journal,
      hint: 'Without it nothing shows what ran. You can still read the cases folder by hand.',
    });
  }
  const run = await readRun(directory);
  const rows = rowsInOrder(run);
  const summary = summarize(run.manifest, rows, run.audits);
  const isComplete = summary.cases.missing === 0;
  const state: RunState = lock === 'held' ? 'running' : isComplete ? 'finished' : 'stopped';
  const { order: _, case_matrix: __, ...manifest } = run.manifest;
  const { cells: ___, failures, ...numbers } = summary;
  return {
    run,
    detail: {
      ...{ id, state, ...(await readTags(directory)), manifest, summary: numbers },
      failures: failures.map(({ class: name, title, count }) => ({ class: name, title, count })),
      cases: caseTable(run.manifest, rows),
    },
  };
}

export function readableEntry({ id, state, tags, note, manifest, summary }: RunDetail): ReadableRun {
  return {
    id,
    problem: null,
    created_at: manifest.created_at,
    state,
    headline: summary.headline,
    cases: summary.cases,
    agents: manifest.agents.map((agent) => agent.name),
    variants: manifest.variants.map((variant) => variant.name),
    tags,
    note,
  };
}

const unreadableEntry =
  (id: string) =>
  (error: unknown): RunEntry => ({
    id,
    problem: error instanceof WhetstoneError ? error.message : 'The run cannot be read.',
  });

const isRegularFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true;
