import { dirname } from 'node:path';
import type { Command } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import { prepareEnvironment, setupEnvironment } from '../config/setup-environment.ts';
import { inPlan } from '../plan/plan.ts';
import { caseLayout, runLayout } from '../record/layout.ts';
import { readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { createRunRecord, type ReusedCase } from '../record/run-record.ts';
import type { Verification } from '../verify/verify.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import { makeScratch, sweepScratch } from '../workspace/scratch-folder.ts';
import { collectSecrets } from './collect-secrets.ts';
import { type JudgePlace, judgeStoredTree } from './judge-stored-tree.ts';
import { listPlannedTests, openPlannedEnvironments, openWorkplace } from './open-workplace.ts';
import { readDeclaredContext } from './read-declared-context.ts';
import { type LeftOut, planRescore, rescoreManifest, rescoreNotes } from './rescore-plan.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

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
  const planned = await planRescore(stored, given, validation);
  const { config, plan, rows, leftOut, withheld, taskOf, armOf } = planned;
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
  await using workplace = await openWorkplace(config, plan, { scratch, withheld, contexts, jobs });
  const variables = prepareEnvironment(config.environment, process.env);
  const plannedTasks = new Set(plan.tasks.map(({ id }) => id));
  const mask = createMask([
    ...collectSecrets([], config.gateway, process.env),
    ...config.tasks
      .filter(({ id }) => plannedTasks.has(id))
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
    rescoreManifest(stored, planned, rescoreNotes(stored, { leftOut, validation, repeat })),
  );
  const source = stored.manifest.imported_from;
  const treesLeaveOut = source && (source.trees_leave_out ?? []);
  const judgeAnew = async (before: CaseRow): Promise<ReusedCase> => {
    const reused_from = before.reused_from ?? { run_id: before.run_id, case_id: before.case_id };
    const from = { directory, caseId: before.case_id };
    const own = { run_id: record.manifest.run_id, reused_from };
    if (!wasJudged(before)) return { row: { ...before, ...own }, from };
    const id = taskOf(before.task_id)?.id;
    const task = listed.tasks.find((one) => one.id === id);
    const commit = plan.tasks.find((one) => one.id === id)?.commit;
    const arm = armOf(before);
    if (!task || !commit || !arm) throw new TypeError(`Case ${before.case_id} is not in the plan.`);
    const { variant, agent } = arm;
    const instructions = agent && instructionsFor(variant, agent, contexts.get(variant.name)?.instructions);
    const overlays = [...(task.overlays ?? []), ...variant.overlays];
    const bare = await workspaces.prepare(source ? commit : before.repo_ref, overlays, instructions);
    const snapshot = environments ? await environments.equip(bare).catch(failedPreparation) : bare;
    if (typeof snapshot === 'string') return { row: { ...notJudged(before, snapshot), ...own }, from };
    const files = caseLayout(runLayout(directory).case(before.case_id));
    const work = { row: before, files, task, snapshot, ...present({ treesLeaveOut }) };
    const judged = await judgeStoredTree(work, place);
    if ('unknown' in judged) return { row: { ...notJudged(before, judged.unknown), ...own }, from };
    const row = rowOf(before, judged.verifications);
    const { evidence } = row;
    const after = {
      ...{ ...row, evidence: evidence === null ? null : mask.text(evidence), ...own },
      ...(source && { repo_ref: commit, ...judged.found }),
    };
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
