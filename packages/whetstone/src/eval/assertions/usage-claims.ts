import { totalTokens } from '@whetstone/events/usage';
import { requireLimit } from '../expect/arguments.ts';
import type { Claim, Verdict } from './assertion.ts';
import { callText } from './call-text.ts';
import { type Evidence, eventsIn } from './evidence.ts';
import { withEvidence } from './occurrences.ts';

/** The claims about how a turn ended and what it cost. */
export const usageClaims = {
  succeeded(evidence: Evidence): Claim {
    return { name: 'succeeded()', verdict: ended(evidence) };
  },

  maxTokens(evidence: Evidence, limit: number): Claim {
    requireLimit('maxTokens()', limit);
    const { usage } = evidence.subject;
    const used = usage && totalTokens(usage);
    return { name: callText('maxTokens', limit), verdict: atMost(used, limit, 'tokens', evidence) };
  },

  maxCost(evidence: Evidence, usd: number): Claim {
    requireLimit('maxCost()', usd, { isWhole: false });
    return {
      name: callText('maxCost', usd),
      verdict: atMost(evidence.subject.costUsd, usd, 'US dollars', evidence),
    };
  },
};

function ended(evidence: Evidence): Verdict {
  const { status } = evidence.subject;
  if (status === undefined) return { status: 'unavailable', message: 'no turn has ended yet' };
  const message = `the turn ended with status ${status}`;
  if (status === 'completed') return { status: 'passed', message };
  return withEvidence('failed', message, eventsIn(evidence, 'error', 'input.requested').slice(-3), evidence);
}

function atMost(used: number | undefined, limit: number, unit: string, evidence: Evidence): Verdict {
  if (used === undefined) return { status: 'unavailable', message: `nobody reported the ${unit}` };
  const message = `${used} ${unit}, and at most ${limit} are expected`;
  return withEvidence(used <= limit ? 'passed' : 'failed', message, eventsIn(evidence, 'usage'), evidence);
}
