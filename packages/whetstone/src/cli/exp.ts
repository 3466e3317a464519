import { writeFile } from 'node:fs/promises';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config } from '../config/config.ts';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import type { Project } from '../config/load-project.ts';
import { type EvalWorkers, openEvalWorkers } from '../eval/eval-workers.ts';
import { readFixture } from '../eval/fixture.ts';
import {
  type Experiment,
  type ExperimentOverrides,
  evalsOf,
  loadExperiment,
  planExperiment,
  type StoredFixture,
  selectIds,
  treeStoreOf,
} from '../eval/plan-experiment.ts';
import type { EvalDescription } from '../eval/protocol.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { renderTerminal } from '../report/terminal.ts';
import { previewReuse } from '../run/preview-reuse.ts';
import type { ReusePolicy } from '../run/reuse.ts';
import { type RunResult, run } from '../run/run.ts';
import { openTreeStore, storeTree } from '../workspace/tree-store.ts';
import { onInterrupt } from './interrupt.ts';
import { junitOf } from './junit-of.ts';
import { type OpenProject, openProject } from './open-project.ts';
import { createProgress } from './progress.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

export type ExpOptions = {
  agent?: string;
  model?: string;
  runs?: number;
  sandbox?: string;
  jobs: number;
  tag: string[];
  budget?: number;
  timeout?: number;
  rerun?: 'failed' | 'all';
  keepWorkspace?: boolean;
  dryRun?: boolean;
  json?: boolean;
  junit?: string;
};

/** Runs experiments. Each is a run with a directory of its own. */
export async function expCommand(names: string[], options: ExpOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  await using workers = openEvalWorkers();
  const opened = await openProject(workers);
  const chosen = await choose(opened, names, options);
  const warnings = [opened.project, ...chosen.map(({ experiment }) => experiment)].flatMap(
    (one) => one.warnings,
  );
  if (warnings.length > 0) {
    stderr.write(`${formatDiagnostics(warnings, { color: terminalColors(stderr).isColorSupported })}\n`);
  }
  const { repo, fixtures } = await prepareTrees(
    opened.project,
    chosen.flatMap(({ evals }) => evals),
  );
  const overrides = overridesOf(options);
  const planned = chosen.map(({ experiment, evals }) => ({
    experiment,
    config: planExperiment(experiment, evals, { project: opened.project, repo, overrides, fixtures }),
  }));
  const reuse = { policy: policyOf(options), root: opened.project.root };
  if (options.dryRun) return previewExperiments(planned, reuse, options, streams);
  using interrupt = onInterrupt(stderr);
  const results: RunResult[] = [];
  for (const { experiment, config } of planned) {
    const { signal } = interrupt;
    const result = await runExperiment(experiment, config, { workers, reuse, options, streams, signal });
    results.push(result);
    if (!options.json) {
      const view = { colors: terminalColors(stdout), width: terminalWidth(stdout) };
      stdout.write(`${renderTerminal(result.summary, result.ordered, view)}\n\n${result.directory}\n`);
    }
    if (result.interrupted) break;
  }
  if (options.json) stdout.write(escapedJson({ runs: results.map(({ summary }) => summary) }));
  if (options.junit !== undefined) await writeFile(options.junit, await junitOf(results));
  if (results.some(({ interrupted }) => interrupted)) return 130;
  return results.every(({ summary: { cases } }) => cases.planned > 0 && cases.passed === cases.planned)
    ? 0
    : 1;
}

async function runExperiment(
  { definition }: Experiment,
  config: Config,
  {
    workers,
    reuse,
    options,
    streams,
    signal,
  }: {
    workers: EvalWorkers;
    reuse: { policy: ReusePolicy; root: string };
    options: ExpOptions;
    streams: Streams;
    signal: AbortSignal;
  },
): Promise<RunResult> {
  const progress = await createProgress(streams.stderr);
  const { jobs, keepWorkspace = false } = options;
  await definition.setup?.();
  try {
    return await run({
      ...{ config, trials: trialsOf(definition, options), jobs, keepWorkspace, signal },
      ...{ onEvent: progress.show, evals: workers, reuse },
    }).finally(progress.stop);
  } finally {
    await definition.teardown?.();
  }
}

const trialsOf = (definition: Experiment['definition'], { runs }: ExpOptions): number =>
  runs ?? definition.runs ?? 1;

/** A kept workspace is one of this run, so nothing is reused for it. */
function policyOf({ rerun, keepWorkspace }: ExpOptions): ReusePolicy {
  if (rerun === 'all' || keepWorkspace) return 'none';
  return rerun === 'failed' ? 'passed' : 'results';
}

/** The repository that agents work on: that of the project, or one of ours with the fixtures and an empty tree. */
async function prepareTrees(project: Project, evals: readonly EvalDescription[]) {
  const folders = new Set(evals.flatMap(({ fixture }) => fixture ?? []));
  if (project.repo && folders.size === 0) return { repo: project.repo, fixtures: new Map() };
  if (project.repo && evals.some(({ fixture }) => fixture === undefined)) {
    throw new WhetstoneError(
      'experiment-invalid',
      'Some evals have a fixture, and the others work on `repo`: one run has the one or the other.',
      { hint: 'Select the evals with a fixture, or the others, by their ids or tags.' },
    );
  }
  const store = await openTreeStore(treeStoreOf(project));
  const fixtures = new Map<string, StoredFixture>();
  for (const folder of folders) {
    const fixture = await readFixture(folder, store);
    fixtures.set(folder, { fixture, commit: await storeTree(store, fixture.visible) });
  }
  return { repo: { path: store, baseRef: 'HEAD' }, fixtures };
}

/** Prints for each case whether it would be reused, or why it would run. */
async function previewExperiments(
  planned: readonly { experiment: Experiment; config: Config }[],
  reuse: { policy: ReusePolicy; root: string },
  options: ExpOptions,
  { stdout }: Streams,
): Promise<number> {
  const shown = [];
  for (const { experiment, config } of planned) {
    const trials = trialsOf(experiment.definition, options);
    const { found } = await previewReuse(config, { ...reuse, trials });
    const cases = [...found].map(([id, one]) =>
      'row' in one ? { case_id: id, reused_from: one.row.run_id } : { case_id: id, runs_because: one.why },
    );
    shown.push({ experiment: experiment.id, cases });
  }
  if (options.json) {
    stdout.write(escapedJson({ experiments: shown }));
    return 0;
  }
  const lines = shown.flatMap(({ experiment, cases }) => [
    `${experiment}: ${counted(cases.length, 'case')}, ${cases.filter((one) => 'reused_from' in one).length} of them reused`,
    ...cases.map((one) =>
      'reused_from' in one
        ? `  reused  ${one.case_id}, from run ${one.reused_from}`
        : `  runs    ${one.case_id}: ${one.runs_because}`,
    ),
  ]);
  stdout.write(`${[...lines, '', 'Nothing was started.'].join('\n')}\n`);
  return 0;
}

/** The experiments and evals that the names mean. A name that is an experiment is one; any other is of evals. */
async function choose({ evals, experiments }: OpenProject, names: readonly string[], { tag }: ExpOptions) {
  const isExperiment = (name: string) =>
    experiments.some(({ id }) => id === name || id.startsWith(`${name}/`));
  const wanted = selectIds(experiments, names.filter(isExperiment), 'experiments');
  const files = wanted.length > 0 ? wanted : experiments;
  if (files.length === 0) {
    throw new WhetstoneError('selection-empty', 'There is no experiment.', {
      hint: 'Write one in the folder `experiments`; docs/evals.md shows how.',
    });
  }
  const others = names.filter((name) => !isExperiment(name));
  const named = others.length > 0 ? selectIds(evals, others, 'evals or experiments') : evals;
  const tagged = tag.length > 0 ? named.filter(({ tags }) => tag.some((one) => tags.includes(one))) : named;
  const loaded = [];
  for (const file of files) loaded.push(await loadExperiment(file));
  const chosen = loaded
    .map((experiment) => ({ experiment, evals: evalsOf(experiment, tagged) }))
    .filter((one) => one.evals.length > 0);
  if (chosen.length > 0) return chosen;
  throw new WhetstoneError('selection-empty', 'No eval fits.', {
    hint: 'An eval has to be one of the experiment, of the names and of the tags: remove one of them.',
  });
}

const overridesOf = ({ agent, model, runs, sandbox, timeout, budget }: ExpOptions): ExperimentOverrides =>
  present({
    agent,
    model,
    runs,
    sandbox,
    budget,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  });
