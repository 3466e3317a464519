import type { AgentConfig, Command } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import type { Config, TaskConfig, VariantConfig } from '../config/config.ts';
import { isOfHarbor, slug } from '../config/harbor-task.ts';
import type { Plan } from '../plan/plan.ts';
import type { Manifest } from '../record/manifest.ts';
import { type ReadRun, rowsInOrder } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { counted } from '../report/format.ts';
import { resultsOfRun } from '../report/sequential.ts';
import { findWithheld, type Withheld } from '../workspace/withheld.ts';
import { newRunId } from './build-manifest.ts';
import { withSandbox } from './choose-sandbox.ts';
import { inputsOf, planAgain, selectionOf, withSandboxOf } from './plan-or-resume.ts';

/** Cases of the stored run that are not in the new one, and why. */
export type LeftOut = { why: string; cases: number };

/** The part of a stored run that can be judged with the configuration as it is now. */
export type RescorePlan = {
  config: Config;
  plan: Plan;
  /** What no tree has. */
  withheld: Withheld[];
  /** The cases that are in the new run, in planned order. */
  rows: CaseRow[];
  leftOut: LeftOut[];
  /** The task of the configuration that a task of the run is, by id. */
  taskOf(id: string): TaskConfig | undefined;
  /** What a case of these names started with. Of another tool's case, it is no variant's. */
  armOf(
    row: Pick<CaseRow, 'agent_name' | 'variant'>,
  ): { variant: VariantConfig; agent: AgentConfig | undefined } | undefined;
};

/** @throws WhetstoneError `selection-empty` when no case can be judged. */
export async function planRescore(
  stored: ReadRun,
  given: Config,
  validation: readonly Command[] | undefined,
): Promise<RescorePlan> {
  const stated = validation ? withValidation(given, validation) : given;
  if (stored.manifest.imported_from) return planImported(stored, stated);
  const { config } = await withSandboxOf(stored, stated);
  return planOwn(stored, config);
}

const withValidation = (config: Config, commands: readonly Command[]): Config => ({
  ...config,
  tasks: config.tasks.map((task): TaskConfig => {
    const { tests: _, ...validation } = task.validation;
    return { ...task, validation: { ...validation, commands: [...commands] } };
  }),
});

async function planOwn(stored: ReadRun, config: Config): Promise<RescorePlan> {
  const { manifest, directory } = stored;
  if (manifest.isolation.provider === 'none') {
    const message = `Run ${manifest.run_id} has agents without files: it has no trees to judge.`;
    throw new WhetstoneError('selection-empty', message, {
      where: directory,
      hint: 'Judge its transcripts with an eval: whetstone rescore RUN --eval FILE.',
    });
  }
  const known = {
    agents: new Map(config.agents.map((one) => [one.name, one])),
    variants: new Map(config.variants.map((one) => [one.name, one])),
    tasks: new Map(config.tasks.map((one) => [one.id, one])),
  };
  const wanted = selectionOf(manifest);
  const selection = {
    agents: wanted.agents.filter((name) => known.agents.has(name)),
    variants: wanted.variants.filter((name) => known.variants.has(name)),
    taskIds: wanted.taskIds.filter((id) => known.tasks.has(id) && !known.tasks.get(id)?.eval),
  };
  if (Object.values(selection).some(({ length }) => length === 0)) {
    throw noTask(manifest, config, selection.taskIds.length === 0 ? 'task' : 'agent or variant');
  }
  const withheld = manifest.withheld ?? [];
  const plan = await planAgain(config, inputsOf(withheld), manifest, selection);
  const sameVariants = new Set(
    plan.variants
      .filter(({ name, fingerprint }) =>
        manifest.variants.some((one) => one.name === name && one.fingerprint === fingerprint),
      )
      .map(({ name }) => name),
  );
  const reasonOf = (one: { task_id: string; agent_name: string; variant: string }): string | undefined => {
    if (!selection.taskIds.includes(one.task_id)) return noTaskOf(one.task_id, config);
    if (!known.agents.has(one.agent_name)) return `no agent ${one.agent_name} in the configuration`;
    if (!known.variants.has(one.variant)) return `no variant ${one.variant} in the configuration`;
    return sameVariants.has(one.variant) ? undefined : `the variant ${one.variant} has changed since the run`;
  };
  return {
    ...{ config, plan, withheld, ...chooseRows(stored, reasonOf) },
    taskOf: (id) => known.tasks.get(id),
    armOf({ agent_name, variant }) {
      const found = known.variants.get(variant);
      return found && { variant: found, agent: known.agents.get(agent_name) };
    },
  };
}

/** Of another tool's run, only the tasks are those of the configuration: its agents and its arms are its own. */
async function planImported(stored: ReadRun, given: Config): Promise<RescorePlan> {
  const { manifest, directory } = stored;
  const ordered = rowsInOrder(stored);
  if (ordered.every(({ workspace_path: path }) => path === undefined)) {
    const { tool, path } = manifest.imported_from ?? {};
    const message = `Run ${manifest.run_id} was imported from ${path}: it has no trees to judge.`;
    throw new WhetstoneError('selection-empty', message, {
      where: directory,
      hint:
        tool === 'harbor'
          ? 'Let the job collect the workspace (artifacts: [/app]), and import it with --tree /app. The transcripts can be judged: whetstone rescore RUN --eval FILE.'
          : 'Judge its transcripts with an eval: whetstone rescore RUN --eval FILE.',
    });
  }
  const known = given.tasks.filter((task) => !task.eval);
  // `tasks import` names a task by the last part of its name.
  const taskOf = (id: string) =>
    known.find((task) => task.id === id) ??
    known.find((task) => task.id === slug(id.slice(id.lastIndexOf('/') + 1)));
  const ids = new Set(ordered.map(({ task_id: id }) => id));
  const tasks = new Map([...ids].flatMap((id) => taskOf(id) ?? []).map((task) => [task.id, task]));
  if (tasks.size === 0) throw noTask(manifest, given);
  const variant: VariantConfig = { name: manifest.baseline, description: '', overlays: [] };
  const chosen = [...tasks.values()];
  const { config } =
    given.sandbox.provider === 'auto' && chosen.some(isOfHarbor)
      ? { config: { ...given, sandbox: { ...given.sandbox, provider: 'process' as const } } }
      : await withSandbox(given, { agents: [], variants: [variant], tasks: chosen });
  const own = {
    ...config,
    ...{ agents: config.agents.slice(0, 1), variants: [variant], baseline: variant.name },
  };
  const withheld = await findWithheld(given);
  const selection = { agents: [], variants: [], taskIds: [...tasks.keys()] };
  const plan = await planAgain(own, inputsOf(withheld), { ...manifest, tasks: [] }, selection);
  const reasonOf = ({ task_id: id }: CaseRow) => (taskOf(id) ? undefined : noTaskOf(id, given));
  return {
    ...{ config: own, plan, withheld, ...chooseRows(stored, reasonOf), taskOf },
    armOf: () => ({ variant, agent: undefined }),
  };
}

const noTaskOf = (id: string, { tasksFile }: Config): string => `no task ${id} in ${tasksFile}`;

const noTask = (manifest: Manifest, { file }: Config, what = 'task'): WhetstoneError =>
  new WhetstoneError('selection-empty', `The configuration has no ${what} of run ${manifest.run_id}.`, {
    where: file,
    hint: 'Name the configuration of the run with -c, or its tasks with --tasks.',
  });

/** The cases without a reason against them. */
function chooseRows(
  stored: ReadRun,
  reasonOf: (row: CaseRow) => string | undefined,
): Pick<RescorePlan, 'rows' | 'leftOut'> {
  const { manifest, directory } = stored;
  const ordered = rowsInOrder(stored);
  const rows = ordered.filter((row) => reasonOf(row) === undefined);
  const reasons = ordered.flatMap((row) => reasonOf(row) ?? []);
  const leftOut = [...Map.groupBy(reasons, (why) => why)].map(([why, { length }]) => ({
    why,
    cases: length,
  }));
  if (rows.length === 0) {
    const said = leftOut.map(({ why }) => why).join('; ') || 'no case has finished';
    throw new WhetstoneError('selection-empty', `No case of run ${manifest.run_id} can be judged: ${said}.`, {
      where: directory,
    });
  }
  return { rows, leftOut };
}

/** The stored manifest with the cases that are judged. A task whose tests have changed is another one for `compare`. */
export function rescoreManifest(
  { manifest, rows: all }: ReadRun,
  { plan, rows, taskOf }: RescorePlan,
  notes: string[],
): Manifest {
  const judged = new Set(rows.map(({ case_id }) => case_id));
  const tasks = new Set(rows.map(({ task_id }) => task_id));
  const arms = new Set(rows.map(armOf));
  const missing = new Set(
    resultsOfRun(manifest, [...all.values()]).flatMap((one) =>
      one.row === null && tasks.has(one.task_id) && arms.has(armOf(one)) ? one.case_id : [],
    ),
  );
  const isThere = (id: string) => judged.has(id) || missing.has(id);
  const matrix = manifest.case_matrix.filter(({ case_id }) => isThere(case_id));
  const fingerprints = new Map(plan.tasks.map(({ id, fingerprint }) => [id, fingerprint]));
  const createdAt = new Date();
  const { looks } = manifest;
  return {
    ...manifest,
    ...{ run_id: newRunId(createdAt), created_at: createdAt.toISOString() },
    rescored_from: manifest.run_id,
    tasks: manifest.tasks
      .filter(({ id }) => tasks.has(id))
      .map((task) => ({
        ...task,
        fingerprint: fingerprints.get(taskOf(task.id)?.id ?? '') ?? task.fingerprint,
      })),
    order: manifest.order.filter(isThere),
    ...{ case_count: matrix.length, case_matrix: matrix, notes },
    ...(looks && {
      looks: looks.map((look) => ({ ...look, tasks: look.tasks.filter((id) => tasks.has(id)) })),
    }),
  };
}

const armOf = ({ agent_name, variant }: { agent_name: string; variant: string }): string =>
  JSON.stringify([agent_name, variant]);

export function rescoreNotes(
  { manifest }: ReadRun,
  {
    leftOut,
    validation,
    repeat,
  }: { leftOut: LeftOut[]; repeat: number; validation: readonly Command[] | undefined },
): string[] {
  const said = validation ? ` with other validation commands (${validation.length})` : '';
  const often = repeat > 1 ? `, each tree ${repeat} times` : '';
  return [
    ...manifest.notes,
    `Judged anew from run ${manifest.run_id}${said}${often}: the agents did not run.`,
    ...(manifest.imported_from
      ? [
          'The verdicts are those of Whetstone’s clean room on the trees that were kept, in place of the other tool’s.',
        ]
      : []),
    ...leftOut.map(({ why, cases }) => `${counted(cases, 'case')} of it left out: ${why}.`),
  ];
}
