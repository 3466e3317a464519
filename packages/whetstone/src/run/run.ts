import { type Agent, type AskHuman, createAgent } from '@whetstone/agents';
import { attachedServer, watchLearnedSecrets } from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox';
import type { Lab } from '../attempt/lab.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { requireProtectedFiles } from '../config/protected-paths.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import { prepareEnvironment, setupEnvironment } from '../config/setup-environment.ts';
import { type EvalWorkers, openEvalWorkers } from '../eval/eval-workers.ts';
import { inPlan, type Plan, type PlannedCase, type Selection } from '../plan/plan.ts';
import { runLayout } from '../record/layout.ts';
import { readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import type { ReusedCase, RunRecord } from '../record/run-record.ts';
import { version } from '../version.ts';
import { makeScratch, sweepScratch } from '../workspace/scratch-folder.ts';
import { agentsBypassingGateway } from './agents-bypassing-gateway.ts';
import { collectSecrets } from './collect-secrets.ts';
import { keptDeclarations } from './kept-declarations.ts';
import { partsOf, takeLooks } from './looks.ts';
import { needsWorkplace } from './needs-workplace.ts';
import { openGateway } from './open-gateway.ts';
import { openJudge, openJudgeGateway } from './open-judge-gateway.ts';
import { agentVersions, openRecord } from './open-record.ts';
import { casesToRun, planOrResume } from './plan-or-resume.ts';
import { readDeclaredContext } from './read-declared-context.ts';
import { reasonsToRunAgain } from './reasons-to-run-again.ts';
import { requireCapabilities } from './require-capabilities.ts';
import { requireExecutables } from './require-executables.ts';
import type { CaseLab } from './retry-case.ts';
import { findReusable, noteReusable, type Reuse, type ReusePolicy } from './reuse.ts';
import type { RunEvent } from './run-event.ts';
import { startProblems } from './start-problems.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

/** What to run and how. Only `config` is required. */
export type RunOptions = {
  /**
   * The path of a `whetstone.yaml`, relative to the current directory; or a configuration that `loadConfig` returned.
   * For a path, `run` also reports the warnings of the file as `warned` events, and checks that the programs of the
   * agents are installed.
   */
  config: string | Config;
  /** Which agents, variants and tasks. Default: all. */
  selection?: Selection;
  /** Trials per agent, task and variant: a whole number from 1. Default: 1. */
  trials?: number;
  /** Cases that run at the same time: a whole number from 1. Default: 1. */
  jobs?: number;
  /**
   * Runs the tasks in four parts, with a look at the comparisons after each, and ends as soon as all are decided or none has a
   * chance to be. At least 8 tasks and two variants. Default: all tasks run.
   */
  sequential?: boolean;
  /**
   * Compares with the baseline of an earlier run (a path, an id, a tag or `latest`), so that the baseline only runs on some of the
   * tasks here, to measure what has changed since. `tasks`: how many; default: half, at least ten. Default: the baseline runs
   * on all tasks.
   */
  bridge?: { run: string; tasks?: number };
  /** Seeds the starting order and every random choice of a script. Default: the config's `seed`, else a new one. */
  seed?: string;
  /**
   * Resumes a run instead of starting a new one: the path of its directory, its id or a unique beginning of its id, or
   * `latest`. `selection`, `trials`, `sequential` and `seed` are then those of that run. Default: a new run.
   */
  resume?: string;
  /**
   * Asks a person what no rule of an agent's policy decides, for debugging. `undefined` as the answer leaves it to the policy.
   * Default: nobody is asked.
   */
  ask?: AskHuman;
  /** Keeps a copy of the workspace of each case in the folder of the case. Default: false. */
  keepWorkspace?: boolean;
  /** The processes that have the evals loaded; the caller ends them. Default: own ones. */
  evals?: EvalWorkers;
  /**
   * Reuses results of earlier runs of the same work, and keeps the results of this run for later ones. `root`: the folder
   * whose installed packages the code of agents and evals may import. Default: nothing is reused or kept.
   */
  reuse?: { policy: ReusePolicy; root: string };
  /** Aborting it stops the cases that run; `run` then resolves with the cases that have finished. Default: none. */
  signal?: AbortSignal;
  /** Called with each event, in order. Must not throw. Default: events are dropped. */
  onEvent?: (event: RunEvent) => void;
};

/** `interrupted`: the signal was aborted before every case had finished. Such a run can be resumed. */
export type RunResult = ReportedRun & { interrupted: boolean };

/**
 * Runs every case of a configuration and writes the run directory. A case that fails is a row, not a rejection. The
 * environment is `process.env`. Only one process at a time can write to a run directory.
 * @example
 * const { summary, directory } = await run({ config: 'whetstone.yaml' });
 * console.log(summary.headline, directory);
 * @throws ConfigErrors when the file at the path `config` is wrong, or an agent's program is not installed.
 * @throws WhetstoneError when the run cannot start (a selection that matches nothing, a missing repository or run, a
 * resumed run whose cases have changed) or its directory cannot be written.
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { selection = {}, trials = 1, jobs = 1, onEvent = () => undefined } = options;
  const { signal = new AbortController().signal, keepWorkspace = false } = options;
  assertJobs(jobs);
  const given = await configOf(options.config, selection, onEvent);
  const { seed, resume, sequential, bridge } = options;
  const plannedRun = await planOrResume({
    config: given,
    selection,
    trials,
    ...present({ seed, resume, sequential, bridge }),
  });
  const { config, plan, sandbox } = plannedRun;
  if (!plannedRun.resumed) await requireProtection(config, plan);
  const [problem] = await startProblems(config, inPlan(config.agents, plan.agents), process.env);
  if (problem) throw problem.error;
  await using gateway = await openGateway(config, plannedRun);
  const { judge } = config;
  await using judgeGateway = await openJudgeGateway(judge, config.gateway, plan);
  await sweepScratch();
  const isShared =
    usesEngine(config.sandbox) ||
    inPlan(config.agents, plan.agents).some((agent) => attachedServer(agent) !== undefined);
  await using scratch = await makeScratch({ isShared });
  onEvent({ type: 'preparing' });
  const agents = await createAgents(config, plan);
  requireCapabilities(config, plan, agents);
  const contexts = await readContexts(config, plan);
  const planned = new Set(plan.cases.map(({ task }) => task));
  const variables = prepareEnvironment(config.environment, process.env);
  const setupSecrets = config.tasks
    .filter(({ id }) => planned.has(id))
    .flatMap((task) => setupEnvironment(task, process.env).secrets);
  const { withheld } = plannedRun;
  const opening = needsWorkplace(config, plan, agents) ? await import('./open-workplace.ts') : undefined;
  await using workplace = await opening?.openWorkplace(config, plan, {
    ...{ scratch, withheld, contexts, jobs },
    ...present({ probes: sandbox?.probes }),
  });
  if (workplace && (workplace.probes || sandbox)) {
    const { level, probes } = workplace;
    onEvent({ type: 'sandbox.chosen', ...level, ...present({ probes, reasons: sandbox?.reasons }) });
  }
  const versions = plannedRun.resumed
    ? new Map<string, null>()
    : await agentVersions(config, plan, scratch.directory);
  await using record = await openRecord({ config, plannedRun, jobs, workplace, scratch, versions });
  const warnings = [
    ...reasonsToRunAgain(plan, plannedRun.resumed),
    ...keptDeclarations(config, plan, plannedRun.resumed),
    ...agentsBypassingGateway(config, plan),
    ...(workplace?.warnings ?? []),
  ];
  for (const message of warnings) onEvent({ type: 'warned', message });
  const { reuse } = options;
  const work = reuse && { plan, outputDir: config.outputDir, root: reuse.root, versions };
  if (work && !plannedRun.resumed) await reuseResults(record, await findReusable(work, reuse.policy));

  const secrets = [
    ...collectSecrets(
      [...inPlan(config.agents, plan.agents), ...(judge?.agent ? [judge.agent] : [])],
      config.gateway,
      process.env,
    ),
    ...setupSecrets,
    ...variables.secrets,
    ...[...contexts.values()].flatMap((context) => context.secrets),
  ];
  const mask = createMask(secrets);
  using _learning = watchLearnedSecrets((secret) => mask.add([secret]));
  await using ownEvals =
    options.evals || !config.tasks.some((task) => task.eval) ? undefined : openEvalWorkers();
  const evals = options.evals ?? ownEvals;
  const isDone = casesToRun(plan, record.rows).length === 0;
  const openEnvironments = isDone ? undefined : opening?.openPlannedEnvironments;
  await using environments =
    workplace &&
    (await openEnvironments?.(config, plan, {
      ...{ variables, contexts, mask, signal, onEvent },
      ...{ workspaces: workplace.workspaces, sandboxes: workplace.sandboxes },
      scratch: scratch.directory,
      logs: runLayout(record.directory).environments,
    }));
  const lab: Lab = {
    scratch: scratch.directory,
    record,
    mask,
    version,
    keepWorkspace,
    ...(workplace && { workplace: { ...workplace, ...present({ environments }) } }),
    ...present({ gateway, evals, ask: options.ask }),
    ...present({ judge: judge && judgeGateway && (await openJudge(judge, judgeGateway)) }),
  };
  const listing = lab.workplace && !isDone && { ...lab, workplace: lab.workplace, signal };
  const listed = listing ? await opening?.listPlannedTests(config, plan, listing) : undefined;
  const { maskings } = listed ?? {};
  const masked = lab.workplace && { workplace: { ...lab.workplace, ...present({ maskings }) } };
  const caseLab = { ...lab, ...masked, config: listed ?? config, agents, contexts };
  const tampering = new AbortController();
  let tampered: CaseRow | undefined;
  const unfinished = await runCases(caseLab, plan, {
    jobs,
    signal: AbortSignal.any([signal, tampering.signal]),
    onEvent(event) {
      if (event.type === 'case.finished' && event.row.failure_class === 'tampered') {
        tampered ??= event.row;
        tampering.abort();
      }
      onEvent(event);
    },
  });
  const interrupted = unfinished > 0;
  await record.finish(interrupted ? 'interrupted' : 'finished');
  if (work) await noteReusable({ ...work, runId: record.manifest.run_id, rows: record.rows });
  // A case that ran again has a row in place of a line of the journal that could not be read.
  const stored = plannedRun.resumed ? await readRun(record.directory) : record;
  const written = await writeReport(stored);
  if (tampered) throw runTampered(tampered, record.directory);
  return { ...written, interrupted };
}

/** Later verdicts would depend on what was changed as well. */
const runTampered = ({ case_id, evidence }: CaseRow, where: string): WhetstoneError =>
  new WhetstoneError('run-tampered', `The run was stopped after case ${case_id}: ${evidence}.`, { where });

/** Takes over what earlier runs found for the same work. Each row says from where. */
async function reuseResults(record: RunRecord, found: ReadonlyMap<string, Reuse>): Promise<void> {
  const cases = [...found].flatMap(([id, one]): ReusedCase[] => {
    if (!('row' in one)) return [];
    const { row, directory } = one;
    const reused_from = row.reused_from ?? { run_id: row.run_id, case_id: row.case_id };
    const own = { run_id: record.manifest.run_id, case_id: id, reused_from };
    return [{ row: { ...row, ...own }, from: { directory, caseId: row.case_id } }];
  });
  await record.reuseCases(cases);
}

async function requireProtection({ repo, tasks }: Config, plan: Plan): Promise<void> {
  const commits = new Map(plan.tasks.map(({ id, commit }) => [id, commit]));
  const planned = tasks.filter(({ id }) => commits.has(id));
  await requireProtectedFiles(repo.path, planned, ({ id }) => commits.get(id) ?? '');
}

function assertJobs(jobs: number): void {
  if (Number.isInteger(jobs) && jobs >= 1) return;
  throw new WhetstoneError('selection-invalid', `The number of jobs must be 1 or more, not ${jobs}.`);
}

type OnEvent = NonNullable<RunOptions['onEvent']>;

async function configOf(config: string | Config, selection: Selection, onEvent: OnEvent): Promise<Config> {
  if (typeof config !== 'string') return config;
  const loaded = await loadConfig(config);
  for (const { message } of loaded.warnings) onEvent({ type: 'warned', message });
  await requireExecutables(loaded, selection);
  return loaded.config;
}

async function createAgents(config: Config, plan: Plan): Promise<ReadonlyMap<string, Agent>> {
  const dependencies = { environment: process.env, hasLanes: config.gateway !== undefined };
  const created = new Map<string, Agent>();
  for (const agent of inPlan(config.agents, plan.agents)) {
    created.set(agent.name, await createAgent(agent, dependencies));
  }
  return created;
}

/** The contexts that the variants declare, by variant. Read before anything runs. */
async function readContexts(config: Config, plan: Plan): Promise<CaseLab['contexts']> {
  const contexts = inPlan(config.variants, plan.variants).map(
    async (variant) => [variant.name, await readDeclaredContext(variant, process.env)] as const,
  );
  return new Map(await Promise.all(contexts));
}

/** Whether a trial of the same work has passed, where an early exit then leaves out the others. */
function passedTrials({ cases }: Plan, { record }: CaseLab): (planned: PlannedCase) => boolean {
  if (!record.manifest.early_exit) return () => false;
  const cellOf = ({ agent, task, variant }: PlannedCase) => JSON.stringify([agent, task, variant]);
  const cells = Map.groupBy(cases, cellOf);
  return (planned) =>
    cells.get(cellOf(planned))?.some(({ id }) => record.rows.get(id)?.outcome === 'passed') ?? false;
}

/** Runs the cases without a result, `jobs` at a time. Resolves with the number of cases that an abort left unrun. */
async function runCases(
  lab: CaseLab,
  plan: Plan,
  { jobs, signal, onEvent }: { jobs: number; signal: AbortSignal; onEvent: (event: RunEvent) => void },
): Promise<number> {
  const { record } = lab;
  const waiting = casesToRun(plan, record.rows);
  onEvent({
    type: 'started',
    manifest: record.manifest,
    directory: record.directory,
    done: plan.cases.length - waiting.length,
    reused: [...record.rows.values()].filter((row) => row.reused_from).length,
    total: plan.cases.length,
  });

  if (waiting.length === 0) return 0;
  let unfinished = waiting.length;
  let looks = takeLooks(record);
  for (const part of partsOf(plan, waiting)) {
    if (looks?.ended && part.every(({ task }) => !looks?.analysed.has(task))) {
      for (const planned of part) onEvent({ type: 'case.left-out', planned, why: 'look' });
      unfinished -= part.length;
      continue;
    }
    const left = await runPart(part, lab, plan, { jobs, signal, onEvent });
    unfinished -= part.length - left;
    if (left > 0) break;
    looks = takeLooks(record);
    if (looks) onEvent({ type: 'look.taken', state: looks });
  }
  return unfinished;
}

/** Runs these cases, `jobs` at a time. Resolves with the number of cases that an abort left unrun. */
async function runPart(
  cases: readonly PlannedCase[],
  lab: CaseLab,
  plan: Plan,
  { jobs, signal, onEvent }: { jobs: number; signal: AbortSignal; onEvent: (event: RunEvent) => void },
): Promise<number> {
  const { runWithRetry } = await import('./retry-case.ts');
  const queue = cases.values();
  const hasPassed = passedTrials(plan, lab);
  let unfinished = cases.length;
  const recordFailure = new AbortController();
  const stop = AbortSignal.any([signal, recordFailure.signal]);
  const work = async () => {
    for (const planned of queue) {
      if (stop.aborted) return;
      if (hasPassed(planned)) {
        unfinished -= 1;
        onEvent({ type: 'case.left-out', planned, why: 'passed' });
        continue;
      }
      onEvent({ type: 'case.started', planned });
      const row = await runWithRetry(planned, lab, {
        signal: stop,
        onProgress: (progress) => onEvent({ type: 'case.progressed', planned, ...progress }),
        onRetry: (evidence) => onEvent({ type: 'case.retried', planned, evidence }),
      });
      if (!row) continue;
      unfinished -= 1;
      onEvent({ type: 'case.finished', planned, row });
    }
  };
  const workers = Array.from({ length: Math.min(jobs, cases.length) }, () =>
    work().catch((error: unknown) => {
      recordFailure.abort(); // the rows of the other cases could not be written either
      throw error;
    }),
  );
  const settled = await Promise.allSettled(workers);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return unfinished;
}
