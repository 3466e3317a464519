import { dirname } from 'node:path';
import type { Command } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox';
import type { Config, TaskConfig } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import { prepareEnvironment, setupEnvironment } from '../config/setup-environment.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { caseLayout, runLayout } from '../record/layout.ts';
import type { Manifest } from '../record/manifest.ts';
import { type ReadRun, readRun, rowsInOrder } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { createRunRecord, type ReusedCase } from '../record/run-record.ts';
import { counted } from '../report/format.ts';
import { resultsOfRun } from '../report/sequential.ts';
import type { Verification } from '../verify/verify.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import { makeScratch, sweepScratch } from '../workspace/scratch-folder.ts';
import { newRunId } from './build-manifest.ts';
import { collectSecrets } from './collect-secrets.ts';
import { type JudgePlace, judgeStoredTree } from './judge-stored-tree.ts';
import { listPlannedTests, openPlannedEnvironments, openWorkplace } from './open-workplace.ts';
import { inputsOf, planAgain, selectionOf, withSandboxOf } from './plan-or-resume.ts';
import { readDeclaredContext } from './read-declared-context.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

/** Cases of the stored run that are not in the new one, and why. */
export type LeftOut = { why: string; cases: number };

/** A run of tasks whose stored trees were judged anew. */
export type RescoredTasks = ReportedRun & {
  /** The cases whose outcome changed. */
  changed: { before: CaseRow; after: CaseRow }[];
  /** Cases that were judged anew. */
  rescored: number;
  /** Cases that ended before anything judged their work, such as at a time limit. They are in the new run as they were. */
  kept: number;
  leftOut: LeftOut[];
  /** The signal was aborted before every case was judged. */
  interrupted: boolean;
};

export type RescoreTasksOptions = {
  /** As it is now. The tasks decide what is judged; agents and variants have to be those of the run. */
  config: Config;
  /** Commands in place of those of the tasks, and of their `tests`. Default: what the tasks say. */
  validation?: readonly Command[];
  /** How often each tree is verified: a whole number from 1. Default: 1. */
  repeat?: number;
  /** Cases at the same time. Default: 1. */
  jobs?: number;
  signal?: AbortSignal;
  onCase?: (event: { done: number; total: number; before: CaseRow; after: CaseRow }) => void;
};

/**
 * Judges the stored trees of a run with its tasks as they are now: hidden tests, validation and checks. No agent runs. The
 * result is a run of its own; the stored run stays as it is. A tree that cannot be made again is an error of class `verifier`.
 * @throws WhetstoneError `selection-empty` when no case can be judged, and those of `readRun` and of a run that starts.
 */
export async function rescoreTasks(
  directory: string,
  { config: given, validation, repeat = 1, jobs = 1, signal = never(), onCase }: RescoreTasksOptions,
): Promise<RescoredTasks> {
  const stored = await readRun(directory);
  const stated = validation ? withValidation(given, validation) : given;
  const { config } = await withSandboxOf(stored, stated);
  const { plan, rows, leftOut } = await planCases(stored, config);
  await sweepScratch();
  await using scratch = await makeScratch({ isShared: usesEngine(config.sandbox) });
  const contexts = new Map(
    await Promise.all(
      inPlan(config.variants, plan.variants).map(async ({ name, description, overlays, instructions }) => {
        // Only the instructions are in the tree. Servers and their keys are for agents.
        const variant = { name, description, overlays, ...present({ instructions }) };
        return [name, await readDeclaredContext(variant, process.env)] as const;
      }),
    ),
  );
  const withheld = stored.manifest.withheld ?? [];
  await using workplace = await openWorkplace(config, plan, { scratch, withheld, contexts });
  const variables = prepareEnvironment(config.environment, process.env);
  const planned = new Set(plan.tasks.map(({ id }) => id));
  const mask = createMask([
    ...collectSecrets([], config.gateway, process.env),
    ...config.tasks
      .filter(({ id }) => planned.has(id))
      .flatMap((task) => setupEnvironment(task, process.env).secrets),
    ...variables.secrets,
  ]);
  const { workspaces, sandboxes } = workplace;
  await using environments = await openPlannedEnvironments(config, plan, {
    ...{ variables, contexts, mask, signal, workspaces, sandboxes },
    ...{ scratch: scratch.directory, logs: `${scratch.directory}/environments` },
  });
  const place: JudgePlace = {
    workplace: { ...workplace, ...present({ environments }) },
    ...{ scratch: scratch.directory, mask, repeat, signal },
  };
  const listed = await listPlannedTests(config, plan, place);
  await using record = await createRunRecord(
    dirname(directory),
    manifestOf(stored, plan, {
      rows,
      notes: notesOf(stored, { leftOut, validation, repeat }),
    }),
  );
  const judgeAnew = async (before: CaseRow): Promise<ReusedCase> => {
    const reused_from = before.reused_from ?? { run_id: before.run_id, case_id: before.case_id };
    const from = { directory, caseId: before.case_id };
    const own = { run_id: record.manifest.run_id, reused_from };
    if (!wasJudged(before)) return { row: { ...before, ...own }, from };
    const task = listed.tasks.find(({ id }) => id === before.task_id);
    const variant = config.variants.find(({ name }) => name === before.variant);
    const agent = config.agents.find(({ name }) => name === before.agent_name);
    if (!task || !variant || !agent) throw new TypeError(`Case ${before.case_id} is not in the plan.`);
    const instructions = instructionsFor(variant, agent, contexts.get(variant.name)?.instructions);
    const overlays = [...(task.overlays ?? []), ...variant.overlays];
    const bare = await workspaces.prepare(before.repo_ref, overlays, instructions);
    const snapshot = environments ? await environments.equip(bare).catch(failedPreparation) : bare;
    if (typeof snapshot === 'string') return { row: { ...notJudged(before, snapshot), ...own }, from };
    const files = caseLayout(runLayout(directory).case(before.case_id));
    const judged = await judgeStoredTree({ row: before, files, task, snapshot }, place);
    if ('unknown' in judged) return { row: { ...notJudged(before, judged.unknown), ...own }, from };
    const row = rowOf(before, judged.verifications);
    const { evidence } = row;
    const after = { ...row, evidence: evidence === null ? null : mask.text(evidence), ...own };
    return { row: after, from, more: judged.folder };
  };
  const changed: RescoredTasks['changed'] = [];
  let [done, rescored] = [0, 0];
  const queue = rows.values();
  const work = async () => {
    for (const before of queue) {
      if (signal.aborted) return;
      const judged = await judgeAnew(before).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!judged) return;
      await record.reuseCases([judged]);
      done += 1;
      if (wasJudged(before)) rescored += 1;
      if (judged.row.outcome !== before.outcome) changed.push({ before, after: judged.row });
      onCase?.({ done, total: rows.length, before, after: judged.row });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: jobs }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  const interrupted = done < rows.length;
  await record.finish(interrupted ? 'interrupted' : 'finished');
  const reported = await writeReport(record);
  const order = new Map(rows.map(({ case_id }, index) => [case_id, index]));
  changed.sort((a, b) => (order.get(a.before.case_id) ?? 0) - (order.get(b.before.case_id) ?? 0));
  return { ...reported, changed, rescored, kept: done - rescored, leftOut, interrupted };
}

const never = (): AbortSignal => new AbortController().signal;

const withValidation = (config: Config, commands: readonly Command[]): Config => ({
  ...config,
  tasks: config.tasks.map((task): TaskConfig => {
    const { tests: _, ...validation } = task.validation;
    return { ...task, validation: { ...validation, commands: [...commands] } };
  }),
});

/** The part of a stored run that can be judged with the configuration as it is now. */
async function planCases(stored: ReadRun, config: Config) {
  const { manifest, directory } = stored;
  if (manifest.isolation.provider === 'none' || manifest.imported_from) {
    const why = manifest.imported_from
      ? `was imported from ${manifest.imported_from.path}`
      : 'has agents without files';
    throw new WhetstoneError('selection-empty', `Run ${manifest.run_id} ${why}: it has no trees to judge.`, {
      where: directory,
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
    const message = `The configuration has no ${selection.taskIds.length === 0 ? 'task' : 'agent or variant'} of run ${manifest.run_id}.`;
    throw new WhetstoneError('selection-empty', message, {
      where: config.file,
      hint: 'Name the configuration of the run with -c, or its tasks with --tasks.',
    });
  }
  const plan = await planAgain(config, inputsOf(manifest.withheld ?? []), manifest, selection);
  const sameVariants = new Set(
    plan.variants
      .filter(({ name, fingerprint }) =>
        manifest.variants.some((one) => one.name === name && one.fingerprint === fingerprint),
      )
      .map(({ name }) => name),
  );
  const reasonOf = (one: { task_id: string; agent_name: string; variant: string }): string | undefined => {
    if (!selection.taskIds.includes(one.task_id)) return `no task ${one.task_id} in ${config.tasksFile}`;
    if (!known.agents.has(one.agent_name)) return `no agent ${one.agent_name} in the configuration`;
    if (!known.variants.has(one.variant)) return `no variant ${one.variant} in the configuration`;
    return sameVariants.has(one.variant) ? undefined : `the variant ${one.variant} has changed since the run`;
  };
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
  return { plan, rows, leftOut };
}

/** The stored manifest with the cases that are judged. A task whose tests have changed is another one for `compare`. */
function manifestOf(
  { manifest, rows: all, directory: _ }: ReadRun,
  plan: Plan,
  { rows, notes }: { rows: readonly CaseRow[]; notes: string[] },
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
      .map((task) => ({ ...task, fingerprint: fingerprints.get(task.id) ?? task.fingerprint })),
    order: manifest.order.filter(isThere),
    ...{ case_count: matrix.length, case_matrix: matrix, notes },
    ...(looks && {
      looks: looks.map((look) => ({ ...look, tasks: look.tasks.filter((id) => tasks.has(id)) })),
    }),
  };
}

const armOf = ({ agent_name, variant }: { agent_name: string; variant: string }): string =>
  JSON.stringify([agent_name, variant]);

function notesOf(
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
    ...leftOut.map(({ why, cases }) => `${counted(cases, 'case')} of it left out: ${why}.`),
  ];
}

/** Whether the clean room decided. Whatever a case ended with before that, such as a time limit, no test can change. */
export function wasJudged({ status, failure_class: kind }: CaseRow): boolean {
  const isOfWork = kind === null || ['agent', 'verifier', 'task', 'budget', 'limit'].includes(kind);
  return isOfWork && (status === 'completed' || status === 'validation_failed');
}

function failedPreparation(error: unknown): string {
  if (error instanceof WhetstoneError && error.class === 'task') return error.message;
  throw error;
}

const NOTHING_RAN = {
  validation_status: 'skipped',
  validation_results: [],
  hard_evaluation_status: 'not_configured',
  hard_evaluation: [],
} satisfies Partial<CaseRow>;

/** Missing data: nobody knows what the tests say of this work. */
function notJudged({ judged_by: _, ...before }: CaseRow, why: string): CaseRow {
  const outcome = { outcome: 'error', failure_class: 'verifier', confidence: 'low' } as const;
  return { ...before, ...NOTHING_RAN, ...outcome, evidence: why };
}

function rowOf(
  { judged_by: _, verifications: __, ...before }: CaseRow,
  [first, ...others]: readonly [Verification, ...Verification[]],
): CaseRow {
  const all = [first, ...others];
  const isVerified = first.validation !== 'skipped' || first.hard.length > 0;
  const outcome = outcomeOf(before, first);
  return {
    ...before,
    ...outcome,
    status: first.validation === 'failed' ? 'validation_failed' : 'completed',
    confidence: !isVerified ? 'low' : outcome.outcome === 'passed' ? 'high' : 'medium',
    validation_status: first.validation,
    validation_results: all.flatMap(({ commands }) => commands),
    hard_evaluation_status: first.hardStatus,
    hard_evaluation: first.hard,
    protected_paths_touched: first.protectedTouched,
    ...present({ judged_by: first.judgedBy }),
    ...(others.length > 0 && {
      verifications: {
        runs: all.length,
        passed: all.filter(({ broken, failure }) => !broken && failure === undefined).length,
        broken: all.filter(({ broken }) => broken).length,
      },
    }),
  };
}

function outcomeOf(
  { failure_class: before }: Pick<CaseRow, 'failure_class'>,
  { broken, failure }: Verification,
) {
  if (broken) return { outcome: 'error', failure_class: broken.class, evidence: broken.evidence } as const;
  if (failure === undefined) return { outcome: 'passed', failure_class: null, evidence: null } as const;
  // A limit still explains work that does not pass.
  const kind = before === 'budget' || before === 'limit' ? before : 'agent';
  return { outcome: 'failed', failure_class: kind, evidence: failure } as const;
}
