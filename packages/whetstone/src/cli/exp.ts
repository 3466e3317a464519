import { writeFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import { previewEnvironments } from '../environment/preview-environments.ts';
import { openEvalWorkers } from '../eval/eval-workers.ts';
import { requireWritable } from '../record/unwritable.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import type { Summary } from '../report/summary.ts';
import { previewReuse } from '../run/preview-reuse.ts';
import type { ReusePolicy } from '../run/reuse.ts';
import type { RunResult } from '../run/run.ts';
import { previewJson, previewLine } from './environment-line.ts';
import { onInterrupt } from './interrupt.ts';
import { junitOf } from './junit-of.ts';
import { likelyWorksWithFiles } from './likely-works-with-files.ts';
import { findRoot, openProject } from './open-project.ts';
import { type ExperimentOptions, type PlannedExperiment, planExperiments } from './plan-experiments.ts';
import { prepareProcess } from './prepare-process.ts';
import { createProgress } from './progress.ts';
import { runExperiment } from './run-experiment.ts';
import { printResult } from './run-shown.ts';
import { plannedSandboxLine, sandboxJson } from './sandbox-line.ts';
import type { Streams } from './streams.ts';
import { terminalColors } from './terminal-features.ts';
import { endOfWatch, touchedExperiments, type WatchedTurn } from './watched-experiments.ts';

export type ExpOptions = ExperimentOptions & {
  jobs: number;
  rerun?: 'failed' | 'all';
  keepWorkspace?: boolean;
  dryRun?: boolean;
  json?: boolean;
  junit?: string;
  /** Set where a watch has started this process: for its first run, or after a change. */
  watched?: WatchedTurn;
};

/** Runs experiments. Each is a run with a directory of its own. */
export async function expCommand(names: string[], options: ExpOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  if (!options.dryRun && likelyWorksWithFiles(findRoot(process.cwd()))) prepareProcess();
  await using workers = openEvalWorkers();
  const opened = await openProject(workers);
  const { planned, warnings } = await planExperiments(opened, names, options);
  const warn = () => {
    if (warnings.length === 0) return;
    stderr.write(`${formatDiagnostics(warnings, { color: terminalColors(stderr).isColorSupported })}\n`);
  };
  const reuse = { policy: policyOf(options), root: opened.project.root };
  if (options.dryRun) {
    warn();
    return previewExperiments(planned, reuse, options, streams);
  }
  const toRun = options.watched ? await touchedExperiments(planned, options.watched, reuse) : planned;
  if (toRun.length === 0) {
    warn();
    stderr.write('Nothing to run: no case depends on what has changed.\n');
    return 0;
  }
  if (options.junit !== undefined) await requireWritable(options.junit, '--junit');
  if (toRun.some(({ config }) => worksWithFilesOrModels(config))) {
    await workers.end();
    prepareProcess();
  }
  // Only here, because the process may have started anew.
  warn();
  using interrupt = onInterrupt(stderr);
  const signal = options.watched ? AbortSignal.any([interrupt.signal, endOfWatch()]) : interrupt.signal;
  const results: RunResult[] = [];
  for (const one of toRun) {
    const progress = await createProgress(stderr);
    const result = await runExperiment(one, {
      ...{ jobs: options.jobs, keepWorkspace: options.keepWorkspace ?? false, signal },
      ...{ onEvent: progress.show, evals: workers, reuse },
    }).finally(progress.stop);
    results.push(result);
    if (!options.json) printResult(result, stdout);
    if (result.interrupted) break;
  }
  if (options.json) stdout.write(escapedJson({ runs: results.map(({ summary }) => summary) }));
  if (options.junit !== undefined) await writeFile(options.junit, await junitOf(results));
  if (results.some(({ interrupted }) => interrupted)) return 130;
  return results.every(({ summary }) => hasPassed(summary)) ? 0 : 1;
}

/** Whether every case has passed; with early exit, one case of each eval and variant. A case that skipped itself is neither. */
const hasPassed = ({ cases, arms, metric }: Summary): boolean =>
  cases.planned > 0 &&
  (metric.kind === 'pass_at_k'
    ? arms.every(({ primary }) => primary.missing === 0 && (primary.value ?? 1) === 1)
    : cases.passed + cases.skipped === cases.planned);

/** All but agents in our own process, without a workspace, a gateway and a judge. */
const worksWithFilesOrModels = (config: Config): boolean =>
  config.gateway !== undefined || config.judge !== undefined || worksWithFiles(config);

const worksWithFiles = ({ agents, tasks }: Config): boolean =>
  tasks.some((task) => !task.eval) ||
  agents.some((agent) => agent.runner !== 'module' || agent.module.adapter?.capabilities?.workspace === true);

/** A kept workspace is one of this run, so nothing is reused for it. */
function policyOf({ rerun, keepWorkspace }: ExpOptions): ReusePolicy {
  if (rerun === 'all' || keepWorkspace) return 'none';
  return rerun === 'failed' ? 'passed' : 'results';
}

/** Prints for each case whether it would be reused, or why it would run. */
async function previewExperiments(
  planned: readonly PlannedExperiment[],
  reuse: { policy: ReusePolicy; root: string },
  options: ExpOptions,
  { stdout }: Streams,
): Promise<number> {
  const shown = [];
  for (const { experiment, config, trials } of planned) {
    const { found, ...planned } = await previewReuse(config, { ...reuse, trials });
    const runs = [...found.values()].some((one) => !('row' in one));
    const environment =
      runs && worksWithFiles(config) ? await previewEnvironments(config, planned) : undefined;
    const cases = [...found].map(([id, one]) =>
      'row' in one
        ? { case_id: id, reused_from: one.row.run_id }
        : 'passedIn' in one
          ? { case_id: id, left_out_because: `trial ${one.trial} passed in run ${one.passedIn}` }
          : { case_id: id, runs_because: one.why },
    );
    const early = config.earlyExit && trials > 1 ? { early_exit: true } : {};
    const sandbox = worksWithFiles(config) ? { sandbox: planned } : {};
    shown.push({ experiment: experiment.id, ...early, ...sandbox, cases, environment });
  }
  if (options.json) {
    const experiments = shown.map(({ environment, sandbox, ...one }) => ({
      ...one,
      ...(sandbox && { sandbox: sandboxJson(sandbox.config, sandbox.sandbox) }),
      environment: previewJson(environment),
    }));
    stdout.write(escapedJson({ experiments }));
    return 0;
  }
  const lines = shown.flatMap(({ experiment, early_exit, sandbox, cases, environment }) => [
    `${experiment}: ${counted(cases.length, 'case')}, ${cases.filter((one) => 'reused_from' in one).length} of them reused`,
    ...(sandbox ? [`  sandbox ${plannedSandboxLine(sandbox.config, sandbox.sandbox)}`] : []),
    ...(environment ? [`  prepare ${previewLine(environment)}`] : []),
    ...(early_exit && cases.some((one) => 'runs_because' in one)
      ? ['  early exit: a case below that runs does not if another trial passes before it']
      : []),
    ...cases.map((one) =>
      'reused_from' in one
        ? `  reused  ${one.case_id}, from run ${one.reused_from}`
        : 'left_out_because' in one
          ? `  not run ${one.case_id}: ${one.left_out_because}`
          : `  runs    ${one.case_id}: ${one.runs_because}`,
    ),
  ]);
  stdout.write(`${[...lines, '', 'Nothing was started.'].join('\n')}\n`);
  return 0;
}
