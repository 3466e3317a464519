import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseRow } from '../../record/row.ts';
import { makeTempDir, type TreeSpec, writeTree } from '../../workspace/__fixtures__/test-repo.ts';
import { type Finished, runCommandLine } from './command-line.ts';
import { readLines, runDirectories } from './project.ts';

const roots: string[] = [];

/** Removes every project of the file. */
export function removeEvals(): void {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
}

/** A folder with evals and experiments, removed by `removeEvals`. */
export type EvalProject = {
  root: string;
  write(files: TreeSpec): void;
  whetstone(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished>;
  /** The rows of the latest run, by task. */
  rows(): Record<string, CaseRow>;
  /** A file of a case of the latest run. */
  read(task: string, file: string): string;
};

export function makeEvals(files: TreeSpec): EvalProject {
  const root = makeTempDir();
  roots.push(root);
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  writeTree(root, files);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8', TMPDIR: temporary };
  const runs = join(root, '.whetstone/runs');
  const latest = () => runDirectories(runs).at(-1) ?? 'no run';
  const rows = () => {
    const all = readLines<CaseRow>(join(latest(), 'results.jsonl'));
    return Object.fromEntries(all.map((row) => [row.task_id, row]));
  };
  return {
    root,
    rows,
    write: (more) => writeTree(root, more),
    whetstone: (args, more = {}) => runCommandLine({ args, cwd: root, env: { ...env, ...more } }),
    read: (task, file) => readFileSync(join(latest(), 'cases', rows()[task]?.case_id ?? '', file), 'utf8'),
  };
}

