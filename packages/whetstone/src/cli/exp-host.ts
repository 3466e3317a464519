// Runs experiments for a program that has started this process and talks to it over IPC. When that program ends, what
// runs here is stopped, and what has finished is kept.
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import { openEvalWorkers } from '../eval/eval-workers.ts';
import type { CaseRow } from '../record/row.ts';
import { assertionLines } from '../report/assertion-lines.ts';
import { oneLine } from '../report/sanitize.ts';
import { onEndSignal } from './interrupt.ts';
import { openProject } from './open-project.ts';
import { type ExperimentOptions, type PlannedExperiment, planExperiments } from './plan-experiments.ts';
import { errorText } from './print-error.ts';
import { runExperiment } from './run-experiment.ts';

/** An eval with one of the variants of an experiment. */
export type EvalArm = { task: string; variant: string };

/** The outcome of one attempt. `lines`: its assertions, those that did not pass first. */
export type FinishedCase = EvalArm &
  Pick<CaseRow, 'outcome' | 'evidence' | 'failure_class' | 'reused_from' | 'trial_index' | 'assertions'> & {
    lines: string[];
  };

export type ToHost =
  | { type: 'plan'; names: readonly string[]; options: ExperimentOptions }
  /** Runs all attempts of these evals. */
  | {
      type: 'run';
      experiment: string;
      arms: readonly EvalArm[];
      jobs: number;
      rerun: 'failed' | 'all' | undefined;
    };

/** `earlyExit`: after an attempt has passed, the others do not run. */
export type HostedExperiment = { id: string; arms: EvalArm[]; attempts: number; earlyExit: boolean };

export type FromHost =
  /** `warnings`: about the files of the user, for a reader; empty where there are none. */
  | {
      type: 'planned';
      root: string;
      experiments: HostedExperiment[];
      warnings: string;
    }
  | { type: 'finished'; finished: FinishedCase }
  | { type: 'ran'; directory: string }
  | { type: 'failed'; message: string };

const stop = new AbortController();
const tell = (message: FromHost): void => void (process.connected && process.send?.(message));
const workers = openEvalWorkers();
let root = '';
let planned: PlannedExperiment[] = [];
let working: Promise<void> = Promise.resolve();

async function handle(message: ToHost): Promise<void> {
  if (message.type === 'plan') await plan(message);
  else await runArms(message);
}

async function plan({ names, options }: Extract<ToHost, { type: 'plan' }>): Promise<void> {
  const opened = await openProject(workers);
  ({ root } = opened.project);
  const found = await planExperiments(opened, names, options);
  ({ planned } = found);
  const experiments = planned.map(({ experiment: { id }, config, trials }) => ({
    ...{ id, attempts: trials, earlyExit: config.earlyExit ?? false },
    arms: config.tasks.flatMap((task) =>
      config.variants.map(({ name }) => ({ task: task.id, variant: name })),
    ),
  }));
  tell({ type: 'planned', root, experiments, warnings: formatDiagnostics(found.warnings, { color: false }) });
}

async function runArms({ experiment, arms, jobs, rerun }: Extract<ToHost, { type: 'run' }>): Promise<void> {
  const one = planned.find(({ experiment: { id } }) => id === experiment);
  if (!one) throw new Error(`There is no experiment ${experiment}.`);
  const told = new Set<string>();
  const tellRow = (row: CaseRow): void => {
    if (told.has(row.case_id)) return;
    told.add(row.case_id);
    const {
      task_id: task,
      variant,
      outcome,
      evidence,
      failure_class,
      trial_index,
      reused_from,
      assertions,
    } = row;
    // Vitest prints these texts as they are.
    const plain = {
      evidence: evidence === null ? null : oneLine(evidence),
      lines: assertionLines(row).map((line) => oneLine(line)),
    };
    const result = { outcome, failure_class, trial_index, reused_from, assertions, ...plain };
    tell({ type: 'finished', finished: { task, variant, ...result } });
  };
  const { ordered, directory } = await runExperiment(one, {
    selection: {
      taskIds: [...new Set(arms.map(({ task }) => task))],
      variants: [...new Set(arms.map(({ variant }) => variant))],
    },
    ...{ jobs, signal: stop.signal, evals: workers },
    reuse: { policy: rerun === 'all' ? 'none' : rerun === 'failed' ? 'passed' : 'results', root },
    onEvent: (event) => {
      if (event.type === 'case.finished') tellRow(event.row);
    },
  });
  // Results that were reused have not been reported yet.
  for (const row of ordered) tellRow(row);
  tell({ type: 'ran', directory });
}

process.on('message', (message: ToHost) => {
  working = working
    .then(() => handle(message))
    .catch(async (error: unknown) => {
      const isKnown = error instanceof WhetstoneError;
      tell({ type: 'failed', message: isKnown ? await errorText(error, false) : messageOf(error) });
    });
});
onEndSignal(() => stop.abort(new Error('interrupted')));
process.once('disconnect', () => {
  stop.abort(new Error('the program that asked for these evals has ended'));
  void working.then(() => workers[Symbol.asyncDispose]()).then(() => process.exit());
});
