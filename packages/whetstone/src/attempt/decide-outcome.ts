import type { Turn } from '@whetstone/agents';
import type { LedgerLine } from '@whetstone/gateway';
import type { GatewayMode } from '../config/config.ts';
import type { AgentFailure, InfrastructureFailure } from '../record/row.ts';
import type { Verification } from '../verify/verify.ts';
import type { Exceeded } from './exceeded-limits.ts';

/** The outcome of one case, with the evidence in one sentence. An `error` is missing data, never a zero. */
export type Outcome =
  | { status: 'passed' }
  /** An eval ended itself, with this reason. */
  | { status: 'skipped'; evidence: string }
  | { status: 'failed'; class: AgentFailure; evidence: string }
  | { status: 'error'; class: InfrastructureFailure; evidence: string };

type Failed = Outcome & { status: 'failed' };

type Evidence = {
  /** The whole session as one turn. */
  turn: Turn;
  /** Default: one turn. */
  turns?: TurnCount;
  calls: readonly LedgerLine[];
  /** Where replies came from. When a script or a recording has no reply, that is not the fault of a provider. */
  gatewayMode: GatewayMode['mode'] | undefined;
  verification: Verification;
  /**
   * A sentence about a service that ended beside the agent. It explains a failure and excuses none: an agent could end a
   * service to turn its failure into missing data.
   */
  endedService?: string;
  /** The limits that the agent's commands ran into. Default: none. */
  exceeded?: readonly Exceeded[];
};

/** The turns of a case. `sent` includes the turn that did not complete. */
export type TurnCount = { sent: number; planned: number };

/** Evidence of one turn, with the number of the turn where there are several. */
export const inTurn = (turns: TurnCount | undefined, evidence: string): string =>
  !turns || turns.planned === 1 ? evidence : `turn ${turns.sent} of ${turns.planned}: ${evidence}`;

/** Decides the outcome from the wire, then the process's end, then the clean room; never from the agent's claims. */
export function decideOutcome(evidence: Evidence): Outcome {
  const { skipped, broken } = evidence.verification;
  if (skipped !== undefined && !broken) return { status: 'skipped', evidence: skipped };
  const calls = evidence.calls.filter((call) => !call.flags.includes('auxiliary'));
  const outcome = outcomeOf(evidence, calls);
  // Work that was good enough when the budget ended has passed.
  const decided =
    outcome.status === 'failed'
      ? (overBudget(calls) ?? withoutService(evidence, overLimit(evidence, outcome) ?? outcome))
      : outcome;
  if (decided.status === 'passed' || evidence.turn.status === 'completed') return decided;
  return { ...decided, evidence: inTurn(evidence.turns, decided.evidence) };
}

function outcomeOf({ turn, gatewayMode, verification }: Evidence, calls: readonly LedgerLine[]): Outcome {
  const provider = turn.status === 'completed' ? undefined : providerFailure(turn, calls, gatewayMode);
  if (provider) return provider;
  if (turn.exit?.ended === 'timeout') {
    return failed('timeout', turn.exit.message ?? 'the agent was stopped at its time limit');
  }
  if (turn.exit?.notStarted) {
    const { exitCode } = turn.exit;
    return error('harness', `the agent's command could not be run (exit ${exitCode})${because(turn)}`);
  }
  if (turn.status === 'waiting') {
    return failed('agent', `the agent waits for an answer that no run gives${asked(turn)}`);
  }
  if (turn.status !== 'completed') {
    const code = turn.exit?.exitCode;
    const isSaid = new RegExp(`\\bexit code ${code}\\b`).test(turn.exit?.message ?? '');
    const exit = code && !isSaid ? ` (exit ${code})` : '';
    return failed('agent', `the agent did not complete${exit}${because(turn)}`);
  }
  if (verification.broken) return error(verification.broken.class, verification.broken.evidence);
  if (verification.failure !== undefined)
    return failed(verification.isCheating ? 'cheating' : 'agent', verification.failure);
  return { status: 'passed' };
}

/**
 * The outcome of a turn that failed after an error of the provider: 429 is a limit, 5xx an outage, 401 and 403 a wrong
 * key of the harness; any other 4xx is the agent's own failure. An answer that began with 200 can name a limit or an
 * outage later. Without a gateway, only an agent in this process reports it.
 */
function providerFailure(
  turn: Turn,
  calls: readonly LedgerLine[],
  gatewayMode: Evidence['gatewayMode'],
): Outcome | undefined {
  const last = calls.at(-1);
  if (!last)
    return turn.exit?.providerError && providerOutcome(turn.exit.providerError, turn.exit.message ?? '');
  const { status } = last;
  if (last.flags.includes('access-refused'))
    return providerOutcome('access', (last.error ?? 'the provider refused access').replace(/\.$/, ''));
  for (const kind of ['limit', 'outage'] as const)
    if (last.flags.includes(`${kind}-in-answer`)) return providerOutcome(kind, last.error ?? 'it failed');
  if (status === null || status < 400 || last.flags.includes('over-budget')) return undefined;
  const times = calls.filter((call) => call.status === status).length;
  const said = `the provider answered ${status}${times > 1 ? ` ${times} times` : ''}`;
  const unplayed = last.faults.length > 0 ? undefined : UNPLAYED[gatewayMode ?? 'forward'];
  if (unplayed !== undefined && !last.flags.includes('replayed')) {
    return error('harness', `${unplayed}: ${last.error ?? said}`);
  }
  if (status === 429) return providerOutcome('limit', said);
  if (status === 401 || status === 403) return providerOutcome('access', said);
  return status >= 500 ? providerOutcome('outage', said) : undefined;
}

/** The reason of an error that came neither from a provider nor from an injected fault. */
const UNPLAYED: Partial<Record<GatewayMode['mode'], string>> = {
  script: 'the script could not be played',
  replay: 'the recording could not be replayed',
};

const withoutService = ({ endedService }: Evidence, outcome: Failed): Failed =>
  endedService === undefined
    ? outcome
    : { ...outcome, evidence: `${outcome.evidence.replace(/\.$/, '')}; beside the agent: ${endedService}` };

function overBudget(calls: readonly LedgerLine[]): Outcome | undefined {
  const refused = calls.find((call) => call.flags.includes('over-budget'));
  // Nobody knows whether the budget was used up, so the agent has not failed.
  if (refused?.flags.includes('price-unknown')) {
    const model = calls.find((call) => call.usage && call.cost_usd === null)?.model_answered;
    const of = model ?? refused.model_asked ?? 'a model';
    return error(
      'harness',
      `a budget in dollars cannot be kept, because the price of ${of} is unknown: use tokens`,
    );
  }
  // Which case meets the end of a budget that all share depends on the order of the cases, not on its agent.
  if (refused?.flags.includes('shared-budget')) {
    return error('harness', 'the budget of the run is used up: raise `run_budget` and resume the run');
  }
  return refused && failed('budget', refused.error ?? 'a model call was refused over its budget');
}

/** Work that passed in spite of a limit has passed. */
function overLimit({ exceeded = [] }: Evidence, outcome: Failed): Failed | undefined {
  if (exceeded.length === 0) return undefined;
  return failed('limit', `the commands ran into the limit on ${exceeded.join(' and ')}: ${outcome.evidence}`);
}

function providerOutcome(kind: 'limit' | 'outage' | 'access', said: string): Outcome {
  if (kind === 'access') return error('harness', `${said}: check the key or the login, and its rights`);
  return error(kind === 'limit' ? 'provider-limit' : 'provider-outage', said);
}

function asked({ events }: Turn): string {
  const question = events.findLast((event) => event.type === 'input.requested');
  return question?.type === 'input.requested' ? `: ${question.request.prompt}` : '';
}

function because(turn: Turn): string {
  return turn.exit?.message ? `: ${turn.exit.message}` : '';
}

const failed = (kind: AgentFailure, evidence: string): Failed => ({
  status: 'failed',
  class: kind,
  evidence,
});

const error = (kind: InfrastructureFailure, evidence: string): Outcome => ({
  status: 'error',
  class: kind,
  evidence,
});
