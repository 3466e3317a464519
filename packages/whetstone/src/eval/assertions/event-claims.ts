import type { StreamEvent } from '@whetstone/agents';
import {
  requireArgument,
  requireCount,
  requireEvent,
  requireKeys,
  requireList,
  requireText,
} from '../expect/arguments.ts';
import type { Count, EventPattern } from '../expect/patterns.ts';
import { show } from '../expect/show.ts';
import { whenKnown } from '../expect/when-known.ts';
import { labelOf, seeing } from './activities.ts';
import type { Claim, Verdict } from './assertion.ts';
import { callText } from './call-text.ts';
import type { Evidence } from './evidence.ts';
import { boundsOf, countVerdict } from './occurrences.ts';
import { given, orderClaim } from './tool-claims.ts';

/** The claims about events of any kind. */
export const eventClaims = {
  event(evidence: Evidence, pattern: EventPattern, conditions: { count?: Count } = {}): Claim {
    requireKeys('event()', conditions, ['count']);
    const { count } = conditions;
    requireCount('event()', count);
    return {
      name: callText('event', pattern, given({ count })),
      verdict: whenKnown(seeing(pattern).find(evidence), (events) =>
        countVerdict(events, boundsOf(count), {
          noun: 'fitting event',
          evidence,
          found: `The events are: ${typesOf(evidence)}`,
        }),
      ),
    };
  },

  notEvent(evidence: Evidence, pattern: EventPattern): Claim {
    return {
      name: callText('notEvent', pattern),
      verdict: whenKnown(seeing(pattern, 'notEvent()').find(evidence), (events) =>
        countVerdict(events, { least: 0, most: 0 }, { noun: 'fitting event', evidence }),
      ),
    };
  },

  eventOrder(evidence: Evidence, patterns: readonly EventPattern[]): Claim {
    requireList('eventOrder()', patterns, requireEvent);
    const steps = patterns.map((pattern) => ({ label: labelOf(pattern), activity: seeing(pattern) }));
    return orderClaim('eventOrder', steps, evidence);
  },

  eventsSatisfy(
    evidence: Evidence,
    label: string,
    predicate: (events: readonly StreamEvent[]) => boolean,
  ): Claim {
    requireText('eventsSatisfy()', label, 'a label and a function');
    requireArgument(typeof predicate === 'function', 'eventsSatisfy()', 'a label and a function', predicate);
    return { name: callText('eventsSatisfy', label), verdict: satisfied(evidence, predicate) };
  },
};

function satisfied(evidence: Evidence, predicate: (events: readonly StreamEvent[]) => boolean): Verdict {
  const { events, isObserved } = evidence;
  const unknown = (message: string): Verdict => ({ status: 'unavailable', message });
  if (!isObserved)
    return unknown('the agent does not report all of its events (capability toolObservability)');
  let answer: unknown;
  try {
    answer = predicate(events.map(({ event }) => event));
  } catch (error) {
    return unknown(`the check threw ${String(error)}`);
  }
  if (answer === true) return { status: 'passed', message: 'the check gave true' };
  const indices = events.map(({ index }) => index);
  const message = `the check gave ${show(answer)} for ${events.length} events: ${typesOf(evidence)}`;
  return { status: 'failed', message, events: indices };
}

function typesOf({ events }: Evidence): string {
  const counts = Map.groupBy(events, ({ event }) => event.type);
  return [...counts].map(([type, { length }]) => `${type} (${length})`).join(', ') || 'none';
}
