import type { Turn } from '@whetstone/agents';
import { attachedServer, disagree, leadsToGateway, usesLogin } from '@whetstone/agents/evaluator';
import { addUsage, totalTokens } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { LedgerLine } from '@whetstone/gateway';
import type { Mask } from '@whetstone/sandbox';
import { caseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { addSpending, type Spending } from './add-spending.ts';
import { assertionFields } from './assertion-fields.ts';
import { consumption } from './consumption.ts';
import type { Outcome } from './decide-outcome.ts';
import { exceededBy } from './exceeded-limits.ts';
import { joinTurns, sumIfKnown } from './join-turns.ts';
import { judgeSpending } from './judge-spending.ts';
import { type Attempt, type Lab, plannedTurns, type Trace } from './lab.ts';
import { maskValues } from './mask-values.ts';
import { secondsWaited } from './provider-waits.ts';
import { withheldByGateway } from './withheld.ts';

export function buildRow(input: {
  attempt: Attempt;
  lab: Lab;
  outcome: Outcome;
  trace: Trace;
  startedAt: Date;
  /** How long the case took, by a clock that nobody puts forward or back. */
  seconds: number;
}): CaseRow {
  const { attempt, lab, outcome, trace, startedAt, seconds } = input;
  const { mask } = lab;
  const { turns, changes, verification } = trace;
  const turn = joinTurns(turns);
  const exceeded = exceededBy(trace);
  const waited = secondsWaited(trace.calls);
  const spent = addSpending(
    [
      ...(attempt.earlier ? [attempt.earlier] : []),
      {
        ...consumption({ turns, calls: trace.calls, agent: attempt.agent, agentConfig: attempt.agentConfig }),
        agent_duration_seconds: trace.agentSeconds ?? null,
      },
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
    ...present({ network_declared: attempt.agentConfig.network }),

    outcome: outcome.status,
    failure_class: 'class' in outcome ? outcome.class : null,
    evidence: outcome.status === 'passed' ? null : mask.text(outcome.evidence),
    status: contextEvalStatus(outcome, trace, turn),
    confidence: !verified(trace) ? 'low' : outcome.status === 'passed' ? 'high' : 'medium',

    started_at: startedAt.toISOString(),
    duration_seconds: seconds,
    agent_duration_seconds: trace.agentSeconds ?? null,
    cpu_seconds: trace.usage?.cpuSeconds ?? null,
    peak_memory_bytes: trace.usage?.peakMemoryBytes ?? null,
    disk_limit_bytes: trace.disk?.limitBytes ?? null,
    peak_disk_bytes: trace.disk?.peakBytes ?? null,
    agent_exit_code: turn?.exit?.exitCode ?? null,
    timeout: turn?.exit?.ended === 'timeout',

    validation_status: verification?.validation ?? 'skipped',
    validation_results: [...(verification?.commands ?? []), ...trace.checks.flat()],
    ...(trace.contamination?.length && { contaminated_by: trace.contamination }),
    ...present({ judged_by: verification?.judgedBy, masks: verification?.masks, unmasked: trace.unmasked }),
    hard_evaluation_status: verification?.hardStatus ?? 'not_configured',
    hard_evaluation: maskValues(verification?.hard ?? [], mask),
    protected_paths_touched: maskValues(verification?.protectedTouched ?? [], mask),

    changed_files: changes?.files.length ?? null,
    insertions: changes?.insertions ?? null,
    deletions: changes?.deletions ?? null,
    touched_paths: changes?.files.map((file) => mask.text(file.path)) ?? [],
    unportable_paths: changes?.unportable.map(mask.text) ?? [],
    ...(attempt.task.followUps && { turns: trace.turnsSent, turns_planned: plannedTurns(attempt.task) }),
    ...(usesLogin(attempt.agentConfig) && { auth: 'login' }),
    ...(attachedServer(attempt.agentConfig) !== undefined && { reproducibility: 'external' }),
    ...withheldByGateway(trace.calls, mask),
    ...(waited >= 0.1 && { provider_wait_seconds: waited }),
    ...maskValues(trace.seen ?? { first_request: null, instruction_files: null }, mask),
    ...(trace.assertions && { ...assertionFields(trace.assertions), turns: trace.turnsSent }),
    ...present({ judge: maskValues(judgeSpending(trace.judgeCalls ?? [], attempt.earlier), mask) }),
    ...(trace.exposure && { exposure: maskValues(trace.exposure, mask) }),
    ...(trace.environment && {
      environment: {
        key: trace.environment.key.slice(0, 12),
        changed_paths: changes?.environment?.map((path) => mask.text(path)) ?? null,
      },
    }),
    ...(exceeded.length > 0 && { limits_exceeded: exceeded }),
    ...present({ names_asked: trace.namesAsked?.map(mask.text) }),
    ...(trace.hostRequests && { host_requests: maskValues([...trace.hostRequests], mask) }),
    ...(trace.serviceEnded !== undefined && { service_ended: mask.text(trace.serviceEnded) }),
    ...(trace.workspaceKept && { workspace_path: caseLayout('').workspace }),
    ...(trace.artifactNotes.length > 0 && { artifact_notes: shortened(trace.artifactNotes) }),

    ...spent,
    models: spent.models.map(mask.text),
    tool_calls_by_name: maskNames(spent.tool_calls_by_name, mask),
    telemetry_status: turn?.telemetry?.status ?? 'unavailable',
    ...present({ telemetry_error: wrongWith(turn?.telemetry, mask) }),
    ...(turn?.telemetry?.source === 'codex-jsonl' && {
      stream_error:
        turn.telemetry.error === undefined || turn.telemetry.status === 'error'
          ? null
          : mask.text(turn.telemetry.error),
    }),
    telemetry_gaps: [
      ...new Set([
        ...(turn?.telemetry?.evidenceGaps.filter((gap) => !isFilled(gap, spent)).map(mask.text) ?? []),
        ...(differsFromWire(turn, trace.calls) ? ['usage_mismatch'] : []),
        ...(turn || trace.agentSeconds !== undefined ? missingIn(spent) : []),
      ]),
    ],
    retries: attempt.earlier ? attempt.earlier.retries + 1 : 0,
  };
}

/** What was wrong with the telemetry. The error of a stream that could be read is that of the agent, which is the evidence. */
function wrongWith(telemetry: Turn['telemetry'], mask: Mask): string | undefined {
  if (telemetry?.error === undefined) return undefined;
  const isOfAgent = telemetry.source === 'codex-jsonl' && telemetry.status !== 'error';
  return isOfAgent ? undefined : mask.text(telemetry.error);
}

/** The counts that may be unknown, and the gap that says so. */
const GAPS = [
  ['total_tokens', 'usage_missing'],
  ['model_calls', 'model_calls_missing'],
  ['tool_calls', 'tool_calls_missing'],
] as const;

const missingIn = (spent: Spending): string[] =>
  GAPS.flatMap(([count, gap]) => (spent[count] === null ? [gap] : []));

/** Whether the gateway saw what the agent did not report. */
const isFilled = (gap: string, spent: Spending): boolean =>
  spent.usage_source === 'gateway' && GAPS.some(([count, name]) => name === gap && spent[count] !== null);

const maskNames = (counts: Spending['tool_calls_by_name'], mask: Mask): Spending['tool_calls_by_name'] =>
  counts && Object.fromEntries(Object.entries(counts).map(([name, count]) => [mask.text(name), count]));

/** Whether the agent reports other usage than the wire. It then made calls past the gateway, or it counts wrongly. */
function differsFromWire(turn: Turn | undefined, calls: readonly LedgerLine[]): boolean {
  const metered = calls.filter((call) => call.usage !== null);
  const wire = sumIfKnown(metered, (call) => call.usage, addUsage);
  const reported = turn?.usage ? totalTokens(turn.usage) : turn?.telemetry?.totalTokens;
  return wire !== undefined && reported !== undefined && disagree(reported, totalTokens(wire));
}

function verified({ verification, assertions }: Trace): boolean {
  if (assertions?.some(({ severity }) => severity === 'gate')) return true;
  return (
    verification !== undefined && (verification.validation !== 'skipped' || verification.hard.length > 0)
  );
}

function contextEvalStatus(outcome: Outcome, { verification }: Trace, turn?: Turn): CaseRow['status'] {
  if (turn?.exit?.ended === 'timeout') return 'timeout';
  if (turn && turn.status !== 'completed') return 'agent_failed';
  if (verification?.validation === 'failed') return 'validation_failed';
  if (turn && verification) return 'completed';
  if ('class' in outcome && outcome.class === 'task') return 'workspace_failed';
  return 'internal_error';
}

/** The first notes. An agent decides how many there are, and a row must stay small. */
function shortened(notes: readonly string[]): string[] {
  const more = notes.length - 20;
  return more > 0 ? [...notes.slice(0, 20), `and ${more} more like these`] : [...notes];
}
