import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config } from '../config/config.ts';
import { sandboxNamed } from '../config/read-sandbox.ts';
import type { Plan, PlannedCase, Selection } from '../plan/plan.ts';
import { planRun, selectMatrix } from '../plan/plan-run.ts';
import { findRun } from '../record/find-run.ts';
import type { Manifest } from '../record/manifest.ts';
import { type ReadRun, readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { findWithheld, RUNS, type Withheld } from '../workspace/withheld.ts';
import { type WithSandbox, withSandbox } from './choose-sandbox.ts';

/** What to plan, with every default filled in. */
export type RunRequest = {
  config: Config;
  selection: Selection;
  trials: number;
  /** Default: the seed of the config, else a new one. */
  seed?: string;
  /** With looks after parts of the tasks. Default: false. */
  sequential?: boolean;
  /** The run that has the baseline, and on how many tasks it runs here beside the others. Default: on all, and there is none. */
  bridge?: { run: string; tasks?: number };
  /** Path, id or unique beginning of an id of the run to resume, or `latest`. */
  resume?: string;
};

/** A plan, what no case's tree has and, where it resumes an earlier run, that run. */
export type PlannedRun = WithSandbox<Config> & {
  plan: Plan;
  withheld: Withheld[];
  resumed?: ReadRun;
};

/** Plans a new run. Or plans an earlier run again, and checks that its cases are still the same work. */
export async function planOrResume(request: RunRequest): Promise<PlannedRun> {
  const seed = request.seed ?? request.config.seed;
  const withheld = await findWithheld(request.config);
  if (request.resume === undefined) {
    const { config, sandbox } = await withSandbox(
      request.config,
      selectMatrix(request.config, request.selection),
    );
    const saved = request.bridge && (await readRun(await findRun(request.bridge.run, config.outputDir)));
    const bridge = saved && {
      run_id: saved.manifest.run_id,
      tasks: request.bridge?.tasks ?? halfOf(selectMatrix(config, request.selection).tasks.length),
    };
    const plan = await planRun(config, request.selection, {
      withheld: inputsOf(withheld),
      trials: request.trials,
      resolveCommit: (ref) => commitOf(config.repo, ref),
      ...present({ seed, sequential: request.sequential, bridge }),
    });
    if (saved) refuseOtherBaseline(plan, saved);
    return { config, plan, withheld, ...present({ sandbox }) };
  }
  const resumed = await readRun(await findRun(request.resume, request.config.outputDir));
  refuseWithoutAgents(resumed);
  refuseRemoved(resumed, request.config);
  const { config, sandbox } = await withSandboxOf(resumed, request.config);
  const plan = await planAgain(config, inputsOf(withheld), resumed.manifest);
  refuseChanged(plan, resumed.manifest, resumed.directory);
  return { config, plan, withheld, resumed, ...present({ sandbox }) };
}

/** Half of the tasks, but at least ten where there are as many. */
const halfOf = (tasks: number): number => Math.min(tasks, Math.max(10, Math.ceil(tasks / 2)));

/** Trials of another arm, or of other tasks, say nothing about what has changed since. */
function refuseOtherBaseline(
  { agents, tasks, variants, baseline }: Plan,
  { manifest, directory }: ReadRun,
): void {
  const variant = variants.find(({ name }) => name === baseline);
  const isSame = (one: { fingerprint: string }, other: { fingerprint: string } | undefined) =>
    one.fingerprint === other?.fingerprint;
  const others = [
    ...(variant &&
    !isSame(
      variant,
      manifest.variants.find(({ name }) => name === baseline),
    )
      ? [`variant ${baseline}`]
      : []),
    ...agents
      .filter(
        (agent) =>
          !isSame(
            agent,
            manifest.agents.find(({ name }) => name === agent.name),
          ),
      )
      .map(({ name }) => `agent ${name}`),
  ];
  const same = tasks.filter((task) =>
    isSame(
      task,
      manifest.tasks.find(({ id }) => id === task.id),
    ),
  );
  if (others.length === 0 && same.length > 0) return;
  const what = others.length > 0 ? others.join(', ') : 'every task';
  throw new WhetstoneError(
    'selection-invalid',
    `Run ${manifest.run_id} cannot be the baseline: it does not have, or has another, ${what}.`,
    { where: directory, hint: 'Run the baseline on all tasks: leave out --bridge.' },
  );
}

/** The sandbox of the cases that the run has, where the configuration leaves the choice. */
export async function withSandboxOf({ manifest }: ReadRun, config: Config): Promise<WithSandbox<Config>> {
  const { provider } = manifest.isolation;
  if (config.sandbox.provider !== 'auto') return { config };
  // No agent works on files.
  if (provider === 'none') return withSandbox(config, selectMatrix(config, selectionOf(manifest)));
  return { config: { ...config, sandbox: { ...config.sandbox, ...sandboxNamed(provider, config.sandbox) } } };
}

/**
 * The cases that a run still has to run, in starting order: those without a row, and those whose row is an error. An
 * error is missing data, so a resumed run tries such a case again; a case that passed or failed is not run again.
 */
export function casesToRun(plan: Plan, rows: ReadonlyMap<string, CaseRow> | undefined): PlannedCase[] {
  const open = plan.cases.filter(({ id }) => (rows?.get(id)?.outcome ?? 'error') === 'error');
  const byId = new Map(open.map((planned) => [planned.id, planned]));
  return plan.order.flatMap((id) => byId.get(id) ?? []);
}

async function commitOf({ path, baseRef, commit }: Config['repo'], ref: string): Promise<string> {
  if (ref === baseRef && commit !== undefined) return commit;
  const { resolveCommit } = await import('../workspace/repository.ts');
  return resolveCommit(path, ref);
}

/** The plan of an earlier run, from the configuration as it is now and the commits of that run. */
export function planAgain(
  config: Config,
  withheld: string[],
  manifest: Manifest,
  selection = selectionOf(manifest),
): Promise<Plan> {
  const refs = new Map(
    manifest.tasks.map(({ id, commit }) => {
      const task = config.tasks.find((candidate) => candidate.id === id);
      return [task?.repoRef ?? config.repo.baseRef, commit];
    }),
  );
  return planRun(config, selection, {
    withheld,
    trials: manifest.trials,
    seed: manifest.seed,
    sequential: manifest.looks !== undefined,
    ...present({ bridge: manifest.bridge }),
    resolveCommit: async (ref) => refs.get(ref) ?? commitOf(config.repo, ref),
  });
}

export function selectionOf({ case_matrix: matrix }: Manifest) {
  const unique = (values: string[]) => [...new Set(values)];
  return {
    agents: unique(matrix.map(({ agent_name }) => agent_name)),
    variants: unique(matrix.map(({ variant }) => variant)),
    taskIds: unique(matrix.map(({ task_id }) => task_id)),
  } satisfies Selection;
}

/** Where runs are written may change between two parts of a run. */
export const inputsOf = (withheld: readonly Withheld[]) =>
  withheld.flatMap(({ path, what }) => (what === RUNS ? [] : [path]));

/** Results of agents that never ran here would stand beside those of agents that do. */
function refuseWithoutAgents({ manifest, directory }: ReadRun): void {
  const { rescored_from: from, imported_from: source } = manifest;
  if (from === undefined && source === undefined) return;
  const what = from === undefined ? `was imported from ${source?.path}` : `judges run ${from} anew`;
  throw new WhetstoneError('resume-changed', `Run ${manifest.run_id} ${what}: no agent ran in it.`, {
    where: directory,
    hint: 'Start a new run.',
  });
}

/** Before the run is planned again, which takes a name that is gone for a wrong one of the user's. */
function refuseRemoved({ manifest, directory }: ReadRun, { agents, tasks, variants }: Config): void {
  const known = new Set([
    ...agents.map(({ name }) => `agent ${name}`),
    ...tasks.map(({ id }) => `task ${id}`),
    ...variants.map(({ name }) => `variant ${name}`),
  ]);
  const gone = new Set(partsOf(manifest).flatMap(({ part }) => (known.has(part) ? [] : [part])));
  if (gone.size === 0) return;
  const changed = manifest.case_matrix.filter((one) =>
    [`agent ${one.agent_name}`, `task ${one.task_id}`, `variant ${one.variant}`].some((part) =>
      gone.has(part),
    ),
  );
  throw notTheSame(changed.length, [...gone].join(', '), manifest, directory);
}

function refuseChanged(plan: Plan, manifest: Manifest, directory: string): void {
  const planned = new Map(plan.cases.map(({ id, fingerprint }) => [id, fingerprint]));
  const changed = manifest.case_matrix.filter((one) => planned.get(one.case_id) !== one.fingerprint);
  if (changed.length === 0) return;
  const now = new Set(partsOf(plan).map(({ part, fingerprint }) => `${part} ${fingerprint}`));
  const parts = partsOf(manifest)
    .filter(({ part, fingerprint }) => !now.has(`${part} ${fingerprint}`))
    .map(({ part }) => part);
  const what = parts.join(', ') || 'the sandbox or the script of the gateway';
  throw notTheSame(changed.length, what, manifest, directory);
}

function notTheSame(changed: number, what: string, manifest: Manifest, directory: string): WhetstoneError {
  const message = `This run cannot be resumed: ${changed} of ${manifest.case_count} cases are no longer the same work (changed: ${what}).`;
  const hint =
    'Restore the configuration, or start a new run: one run must not mix results of two configurations.';
  return new WhetstoneError('resume-changed', message, { where: directory, hint });
}

function partsOf({ agents, tasks, variants }: Pick<Plan | Manifest, 'agents' | 'tasks' | 'variants'>) {
  return [
    ...agents.map(({ name, fingerprint }) => ({ part: `agent ${name}`, fingerprint })),
    ...tasks.map(({ id, fingerprint }) => ({ part: `task ${id}`, fingerprint })),
    ...variants.map(({ name, fingerprint }) => ({ part: `variant ${name}`, fingerprint })),
  ];
}
