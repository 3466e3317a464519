import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { present } from '@whetstone/events/present';
import { stringify } from 'yaml';
import type { OverlayOperation } from '../config/config.ts';
import { isProtectedByDefault } from '../config/default-protected-paths.ts';
import { TASK_FILE } from '../config/read-task-file.ts';
import { version } from '../version.ts';
import type { Draft } from './draft.ts';
import type { Method } from './methods.ts';
import { type StartFile, writeStartFile } from './start-file.ts';
import type { Statement } from './statement.ts';
import type { Validation } from './validate.ts';

/** The names of the files of a mined task beside its `task.yaml`. */
export const TASK_PARTS = {
  hiddenTests: 'tests',
  start: 'start',
  mustPass: 'must-pass.json',
  others: 'other-tests.json',
  goldPatch: 'gold.patch',
  provenance: 'provenance.json',
} as const;

/** Where a mined task comes from, and what is known of it. `provenance.json` of its folder. */
export type Provenance = {
  schema_version: '1';
  whetstone_version: string;
  method: Method;
  /** The commit that the answer is taken from. */
  commit: string;
  /** The commit that the task starts from. */
  base: string;
  /** ISO 8601, of the commit. */
  date: string;
  subject: string;
  grade: Statement['grade'];
  statement_source: string | null;
  /** US dollars, where a model has written the statement; `null`: no price is known. */
  statement_cost_usd?: number | null;
  /** What a person should look at. */
  review: string[];
  passed_over: string[];
  source_files: string[];
  /** Added and deleted lines of sources; `null` where one is binary. */
  source_lines: number | null;
  fail_to_pass: string[];
  pass_to_pass: string[];
  excluded: Validation['excluded'];
  /** How often each tree was run while the task was mined, with the last run of the written task, and which other surroundings were tried. */
  runs: number;
  tried: Validation['tried'];
  seconds: number;
  /** When a person has kept the task, ISO 8601. Absent: nobody has. */
  kept?: string;
};

/** How the dependencies of a task are installed, as in a task file. */
export type TaskSetup = { setup?: string[]; setupTimeoutSeconds?: number; timeoutSeconds?: number };

/**
 * The folder of a task that is being made, with its tests and its start. It is removed in the end unless it is moved to its
 * place.
 */
export async function startTask(folder: string, draft: Draft) {
  await rm(folder, { recursive: true, force: true });
  for (const file of draft.testFiles) await writeStartFile(join(folder, TASK_PARTS.hiddenTests), file);
  for (const file of draft.start) await writeStartFile(join(folder, TASK_PARTS.start), file);
  return {
    hiddenTests: join(folder, TASK_PARTS.hiddenTests),
    overlays: draft.start.map(
      ({ path, content }): OverlayOperation =>
        content === null
          ? { kind: 'remove', paths: [path] }
          : { kind: 'copy', source: join(folder, TASK_PARTS.start, path), target: path },
    ),
    async keep(place: string) {
      await rm(place, { recursive: true, force: true });
      await rename(folder, place);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Writes what the folder of a task has beside its tests. */
export async function writeTask(
  folder: string,
  {
    draft,
    statement,
    validation,
    setup,
  }: {
    draft: Draft;
    statement: Statement;
    validation: Validation;
    setup: TaskSetup;
  },
): Promise<void> {
  const { setup: commands, setupTimeoutSeconds, timeoutSeconds } = setup;
  const isShown = statement.grade === 'tests';
  const start = [...draft.start, ...(isShown ? [] : draft.earlierTests)];
  for (const file of start) await writeStartFile(join(folder, TASK_PARTS.start), file);
  const overlays = [
    ...overlaysOf(TASK_PARTS.start, start),
    ...(isShown ? overlaysOf(TASK_PARTS.hiddenTests, draft.testFiles) : []),
  ];
  const changeable = changeableBy(draft);
  const task = {
    id: basename(folder),
    prompt: statement.prompt,
    category: statement.grade,
    repo_ref: draft.base,
    ...present({ setup: commands, setup_timeout_seconds: setupTimeoutSeconds }),
    ...(overlays.length > 0 && { overlays }),
    hidden_tests: TASK_PARTS.hiddenTests,
    gold_patch: TASK_PARTS.goldPatch,
    ...(changeable.length > 0 && { changeable_paths: changeable }),
    validation: {
      ...present({ timeout_seconds: timeoutSeconds }),
      tests: { ...draft.tests, must_pass: TASK_PARTS.mustPass, others: TASK_PARTS.others },
    },
  };
  const mustPass = [...validation.failToPass, ...validation.passToPass];
  const files = {
    [TASK_FILE]: stringify(task, { lineWidth: 0 }),
    [TASK_PARTS.mustPass]: json(mustPass),
    [TASK_PARTS.others]: json(validation.others),
    [TASK_PARTS.provenance]: json(provenanceOf(draft, statement, validation)),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, TASK_PARTS.goldPatch), draft.goldPatch, 'latin1');
}

/** The files of the answer at which the changes of an agent would not count otherwise. */
export const changeableBy = ({ sources }: Draft): string[] =>
  sources.map(({ path }) => path).filter(isProtectedByDefault);

const overlaysOf = (folder: string, files: readonly StartFile[]) =>
  files.map(({ path, content }) =>
    content === null ? { remove: [path] } : { source: `${folder}/${path}`, target: path },
  );

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function provenanceOf(draft: Draft, statement: Statement, validation: Validation): Provenance {
  const { method, commit, base, date, subject, sources } = draft;
  const lines = sources.map((file) => file.lines);
  return {
    ...{ schema_version: '1', whetstone_version: version, method, commit, base, date, subject },
    grade: statement.grade,
    statement_source: statement.source ?? null,
    ...present({ statement_cost_usd: statement.costUsd }),
    review: statement.review,
    passed_over: statement.passedOver,
    source_files: sources.map(({ path }) => path),
    source_lines: lines.includes(null) ? null : lines.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    fail_to_pass: validation.failToPass,
    pass_to_pass: validation.passToPass,
    ...{ excluded: validation.excluded, runs: validation.runs + 1, tried: validation.tried },
    seconds: Math.round(validation.seconds * 10) / 10,
  };
}
