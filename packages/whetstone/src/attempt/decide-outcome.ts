import type { LedgerLine } from '@whetstone/gateway';
import type { Turn } from '../agents/agent.ts';
import type { Verification } from '../verify/verify.ts';
import type { Outcome } from './outcome.ts';

/**
 * Decides what a case came to, from evidence in this order: what the wire said, how the agent's process ended, what
 * the clean room found. What the agent claims about itself decides nothing.
 */
export function decideOutcome(evidence: {
  turn: Turn;
  calls: readonly LedgerLine[];
  /** The model was a script: what went wrong on the wire is then the script's. */
  scripted: boolean;
  verification: Verification;
}): Outcome {
  const { turn, verification } = evidence;
  const calls = evidence.calls.filter((call) => !call.flags.includes('auxiliary'));
  const provider = turn.status === 'completed' ? undefined : providerFailure(turn, calls, evidence.scripted);
  if (provider) return provider;
  if (turn.exit?.ended === 'timeout') {
    return failed('timeout', turn.exit.message ?? 'the agent was stopped at its time limit');
  }
  if (turn.exit?.notStarted) {
    return error(
      'harness',
      `the agent's command could not be run (exit ${turn.exit.exitCode})${because(turn)}`,
    );
  }
  if (turn.status !== 'completed') {
    const code = turn.exit?.exitCode;
    return failed('agent', `the agent did not complete${code ? ` (exit ${code})` : ''}${because(turn)}`);
  }
  if (verification.broken) return error(verification.broken.class, verification.broken.evidence);
  if (verification.failure !== undefined) return failed('agent', verification.failure);
  return { status: 'passed' };
}

/**
 * A turn that failed while the provider's last answer was an error is the provider's failure: 429 is a limit, 5xx an
 * outage, 401 and 403 a key that the harness was given wrongly. Any other 4xx is a request that the agent got wrong.
 * Where no gateway saw the calls, an agent that runs in this process knows as much.
 */
function providerFailure(turn: Turn, calls: readonly LedgerLine[], scripted: boolean): Outcome | undefined {
  const last = calls.at(-1);
  if (!last)
    return turn.exit?.providerError && providerOutcome(turn.exit.providerError, turn.exit.message ?? '');
  const { status } = last;
  if (status === null || status < 400) return undefined;
  const times = calls.filter((call) => call.status === status).length;
  const said = `the provider answered ${status}${times > 1 ? ` ${times} times` : ''}`;
  if (scripted) return error('harness', `the script could not be played: ${last.error ?? said}`);
  if (status === 429) return providerOutcome('limit', said);
  if (status === 401 || status === 403) return providerOutcome('access', said);
  return status >= 500 ? providerOutcome('outage', said) : undefined;
}

function providerOutcome(kind: 'limit' | 'outage' | 'access', said: string): Outcome {
  if (kind === 'access') return error('harness', `${said}: check the key and its rights`);
  return error(kind === 'limit' ? 'provider-limit' : 'provider-outage', said);
}

function because(turn: Turn): string {
  return turn.exit?.message ? `: ${turn.exit.message}` : '';
}

const failed = (kind: Extract<Outcome, { class: unknown }>['class'], evidence: string): Outcome => ({
  status: 'failed',
  class: kind,
  evidence,
});

const error = (kind: Extract<Outcome, { class: unknown }>['class'], evidence: string): Outcome => ({
  status: 'error',
  class: kind,
  evidence,
});
