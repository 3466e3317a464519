import type { Turn } from '@whetstone/agents';
import { disagree, leadsToGateway } from '@whetstone/agents/evaluator';
import { addUsage, totalTokens, type Usage } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import { caseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { addSpending } from './add-spending.ts';
import type { Outcome } from './decide-outcome.ts';
import { add, joinTurns, sumIfKnown } from './join-turns.ts';
import { type Attempt, type Lab, plannedTurns, type Trace } from './lab.ts';
import { maskValues } from './mask-values.ts';

export function buildRow(input: {
  attempt: Attempt;
  lab: Lab;
  outcome: Outcome;
  trace: Trace;
  startedAt: Date;
}): CaseRow {
  const { attempt, lab, outcome, trace, startedAt } = input;
  const { mask } = lab;
  const { turns, changes, verification } = trace;
  const turn = joinTurns(turns);
  const consumption = addSpending(
    [
      ...attempt.earlier,
      { ...consumed(turns, trace.calls), agent_duration_seconds: trace.agentSeconds ?? null },
    ],
    { isMetered: lab.gateway !== undefined && leadsToGateway(attempt.agentConfig) },
  );
  return {
    schema_version: '1',
    whetstone_version: lab.version,
    run_id: lab.record.manifest.run_id,
    case_id: attempt.planned.id,
    fingerprint: attempt.planned.fingerprint,
    agent_name: attempt.agentConfig.name,
    agent_kind: attempt.agentConfig.kind,
    task_id: attempt.task.id,
    category: attempt.task.category ?? null,
    difficulty: attempt.task.difficulty ?? null,
    variant: attempt.variant.name,
    trial_index: attempt.planned.trial,
    repo_ref: attempt.commit,
    network: lab.record.manifest.isolation.network,
    network_declared: attempt.agentConfig.network,

    outcome: outcome.status,
    failure_class: outcome.status === 'passed' ? null : outcome.class,
    evidence: outcome.status === 'passed' ? null : mask.text(outcome.evidence),
    status: contextEvalStatus(outcome, trace, turn),
    confidence: !verified(trace) ? 'low' : outcome.status === 'passed' ? 'high' : 'medium',

    started_at: startedAt.toISOString(),
    duration_seconds: (Date.now() - startedAt.getTime()) / 1000,
    agent_duration_seconds: trace.agentSeconds ?? null,
    agent_exit_code: turn?.exit?.exitCode ?? null,
    timeout: turn?.exit?.ended === 'timeout',

    validation_status: verification?.validation ?? 'skipped',
    validation_results: verification?.commands ?? [],
    hard_evaluation_status: verification?.hardStatus ?? 'not_configured',
    hard_evaluation: maskValues(verification?.hard ?? [], mask),
    protected_paths_touched: maskValues(verification?.protectedTouched ?? [], mask),

    changed_files: changes?.files.length ?? 0,
    insertions: changes?.insertions ?? 0,
    deletions: changes?.deletions ?? 0,
    touched_paths: changes?.files.map((file) => mask.text(file.path)) ?? [],
    unportable_paths: changes?.unportable.map(mask.text) ?? [],
    ...(attempt.task.followUps && { turns: trace.turnsSent, turns_planned: plannedTurns(attempt.task) }),
    ...(trace.exposure && { exposure: maskValues(trace.exposure, mask) }),
    ...(trace.workspaceKept && { workspace_path: caseLayout('').workspace }),
    ...(trace.artifactNotes.length > 0 && { artifact_notes: shortened(trace.artifactNotes) }),

    ...consumption,
    models: consumption.models.map(mask.text),
    telemetry_status: turn?.telemetry?.status ?? 'unavailable',
    telemetry_gaps: [
      ...new Set([
        ...(turn?.telemetry?.evidenceGaps.map(mask.text) ?? []),
        ...(differsFromWire(turn, trace.calls) ? ['usage_mismatch'] : []),
      ]),
    ],
    retries: attempt.earlier.length,
  };
}

/** Tokens and cost: from the ledger of the gateway where it saw calls, else as reported by the agent. */
function consumed(turns: readonly Turn[], calls: readonly LedgerLine[]) {
  const turn = joinTurns(turns);
  const toolCalls =
    turn?.telemetry?.toolCallCount ?? turn?.events.filter((event) => event.type === 'action.called').length;
  const modelCalls = calls.filter((call) => call.usage !== null);
  if (modelCalls.length > 0) {
    return {
      usage_source: 'gateway' as const,
      ...tokens(sumIfKnown(modelCalls, (call) => call.usage, addUsage)),
      cost_usd: calls.some((call) => call.flags.includes('unmetered'))
        ? null
        : (sumIfKnown(modelCalls, (call) => call.cost_usd, add) ?? null),
      model_calls: modelCalls.length,
      tool_calls: calls.reduce((sum, call) => sum + call.tools_called.length, 0),
      models: [...new Set(modelCalls.flatMap((call) => call.model_answered ?? []))],
    };
  }
  const reported = turn?.events.filter((event) => event.type === 'usage') ?? [];
  const usage = sumIfKnown(turns, usageOf, addUsage);
  const { modelName: telemetryModel, totalTokens: total = null } = turn?.telemetry ?? {};
  return {
    usage_source: usage || total !== null ? ('agent' as const) : ('none' as const),
    ...tokens(usage),
    ...(!usage && { total_tokens: total }),
    cost_usd: turn?.costUsd ?? null,
    model_calls: reported.length > 0 ? reported.length : null,
    tool_calls: toolCalls ?? null,
    models: [...new Set([...reported.map((event) => event.model), telemetryModel])].filter(isNamed),
  };
}

/** The usage that a turn reports, in total or call by call. Unknown where its adapter reports that some is missing. */
function usageOf({ usage, events, telemetry }: Turn): Usage | undefined {
  if (telemetry?.evidenceGaps.includes('usage_missing')) return undefined;
  const calls = events.filter((event) => event.type === 'usage');
  return usage ?? sumIfKnown(calls, (call) => call.usage, addUsage);
}

/** Whether the agent reports other usage than the wire. It then made calls past the gateway, or it counts wrongly. */
function differsFromWire(turn: Turn | undefined, calls: readonly LedgerLine[]): boolean {
  const metered = calls.filter((call) => call.usage !== null);
  const wire = sumIfKnown(metered, (call) => call.usage, addUsage);
  const reported = turn?.usage ? totalTokens(turn.usage) : turn?.telemetry?.totalTokens;
  return wire !== undefined && reported !== undefined && disagree(reported, totalTokens(wire));
}

const isNamed = (model: string | undefined): model is string => Boolean(model);

function tokens(usage: Usage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    cache_read_tokens: usage?.cacheReadTokens ?? null,
    cache_write_tokens: usage?.cacheWriteTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
    total_tokens: usage ? totalTokens(usage) : null,
  };
}

function verified({ verification }: Trace): boolean {
  return (
    verification !== undefined && (verification.validation !== 'skipped' || verification.hard.length > 0)
  );
}

function contextEvalStatus(outcome: Outcome, { verification }: Trace, turn?: Turn): CaseRow['status'] {
  if (turn?.exit?.ended === 'timeout') return 'timeout';
  if (turn && turn.status !== 'completed') return 'agent_failed';
  if (verification?.validation === 'failed') return 'validation_failed';
  if (turn && verification) return 'completed';
  if (outcome.status !== 'passed' && outcome.class === 'task') return 'workspace_failed';
  return 'internal_error';
}

/** The first notes. An agent decides how many there are, and a row must stay small. */
function shortened(notes: readonly string[]): string[] {
  const more = notes.length - 20;
  return more > 0 ? [...notes.slice(0, 20), `and ${more} more like these`] : [...notes];
}
