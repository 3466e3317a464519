import { type Match, matched } from '../expect/matcher.ts';
import type { Count } from '../expect/patterns.ts';
import { plural } from '../expect/show.ts';
import { type MaybeLater, whenAllKnown } from '../expect/when-known.ts';
import type { Verdict } from './assertion.ts';
import { excerpt } from './event-line.ts';
import type { Evidence } from './evidence.ts';

/** One thing that happened and its match. `position` is that of its first event in the subject. */
export type Occurrence = { position: number; indices: readonly number[]; match: Match };

/** What may have happened. `near`: what is not it, but of its kind. `isComplete`: nothing else can have happened. */
export type Occurrences = {
  hits: readonly Occurrence[];
  open: readonly Occurrence[];
  near: readonly Occurrence[];
  isComplete: boolean;
};

type Candidate = { position: number; indices: readonly number[] };

/** Asks a match of every candidate. */
export function findOccurrences<Item extends Candidate>(
  items: readonly Item[],
  match: (item: Item) => MaybeLater<Match>,
  isComplete: boolean,
): MaybeLater<Occurrences> {
  return whenAllKnown(items.map(match), (matches) => {
    const found: Record<'hits' | 'open' | 'near', Occurrence[]> = { hits: [], open: [], near: [] };
    for (const [at, match] of matches.entries()) {
      const item = items[at] as Item;
      const { position, indices } = item;
      if (match.status === 'matched') found.hits.push({ position, indices, match });
      else if (match.status === 'unavailable') found.open.push({ position, indices, match });
      else if (!match.isFar) found.near.push({ position, indices, match });
    }
    return { ...found, isComplete };
  });
}

/** All items match: for what is already picked out. */
export const allHits = <Item extends Candidate>(
  items: readonly Item[],
  reason: string,
  isComplete: boolean,
) => findOccurrences(items, () => matched(reason), isComplete) as Occurrences;

/** How often something must have happened. Both ends are inclusive. */
export type Bounds = { least: number; most: number };

export function boundsOf(count: Count | undefined): Bounds {
  if (count === undefined) return { least: 1, most: Number.POSITIVE_INFINITY };
  if (typeof count === 'number') return { least: count, most: count };
  return { least: count.atLeast ?? 0, most: count.atMost ?? Number.POSITIVE_INFINITY };
}

/** What is counted, as a message says it: `call of "shell"`. `found` says what there was instead. */
type Counted = { noun: string; evidence: Evidence; found?: string; missing?: string };

/**
 * Whether it happened as often as it should. What is open may or may not have happened; if not everything was observed,
 * any number more may have. It passes or fails only if that cannot change the answer.
 */
export function countVerdict(occurrences: Occurrences, { least, most }: Bounds, counted: Counted): Verdict {
  const { hits, open, near, isComplete } = occurrences;
  const possible = isComplete ? hits.length + open.length : Number.POSITIVE_INFINITY;
  const wanted = wantedText({ least, most });
  const seen = `${plural(hits.length, counted.noun)}`;
  const { evidence } = counted;
  if (hits.length > most) {
    return withEvidence('failed', `${seen}, and ${wanted} expected`, hits, evidence);
  }
  if (possible < least) {
    const because = near.slice(0, 3).map(({ match, indices }) => `#${indices[0]}: ${match.reason}`);
    const why = because.length > 0 ? `. ${because.join('; ')}` : counted.found ? `. ${counted.found}` : '';
    return withEvidence('failed', `${seen}, and ${wanted} expected${why}`, [...hits, ...near], evidence);
  }
  if (hits.length >= least && possible <= most) return withEvidence('passed', seen, hits, evidence);
  const [first] = open;
  const why = first
    ? `${plural(open.length, 'possible one')} cannot be judged: ${first.match.reason}`
    : (counted.missing ?? 'the agent does not report all of its tool calls (capability toolObservability)');
  return withEvidence('unavailable', `${seen}, and ${wanted} expected: ${why}`, [...hits, ...open], evidence);
}

function wantedText({ least, most }: Bounds): string {
  if (most === 0) return 'none is';
  if (least === most) return `exactly ${least} ${least === 1 ? 'is' : 'are'}`;
  if (most === Number.POSITIVE_INFINITY) return `at least ${least} ${least === 1 ? 'is' : 'are'}`;
  return least === 0 ? `at most ${most} ${most === 1 ? 'is' : 'are'}` : `${least} to ${most} are`;
}

/** The named steps happened in this order, with others between them. */
export function orderVerdict(
  steps: readonly { label: string; occurrences: Occurrences }[],
  evidence: Evidence,
): Verdict {
  const certain = walk(steps, ({ hits }) => hits);
  if (certain.missing === undefined) {
    return withEvidence('passed', `${steps.length} steps in order`, certain.found, evidence);
  }
  const possible = walk(steps, ({ hits, open }) => [...hits, ...open]);
  const isComplete = steps.every(({ occurrences }) => occurrences.isComplete);
  const step = steps[certain.missing];
  const before = certain.missing === 0 ? '' : ` after ${steps[certain.missing - 1]?.label}`;
  const message = `${step?.label} did not come${before} (step ${certain.missing + 1} of ${steps.length})`;
  const others = step ? step.occurrences.hits : [];
  const shown = [...certain.found, ...others];
  if (isComplete && possible.missing !== undefined) return withEvidence('failed', message, shown, evidence);
  const why = isComplete
    ? 'it may be among what cannot be judged'
    : 'the agent does not report all of its events';
  return withEvidence('unavailable', `${message}: ${why}`, shown, evidence);
}

/** The earliest occurrence of each step behind that of the step before. */
function walk(
  steps: readonly { occurrences: Occurrences }[],
  candidates: (occurrences: Occurrences) => readonly Occurrence[],
): { found: Occurrence[]; missing?: number } {
  const found: Occurrence[] = [];
  for (const [at, { occurrences }] of steps.entries()) {
    const after = found.at(-1)?.position ?? -1;
    const next = candidates(occurrences)
      .filter(({ position }) => position > after)
      .reduce<Occurrence | undefined>(
        (first, one) => (first && first.position <= one.position ? first : one),
        undefined,
      );
    if (!next) return { found, missing: at };
    found.push(next);
  }
  return { found };
}

/** A verdict with the events of these occurrences: indices in order, each once. */
export function withEvidence(
  status: Verdict['status'],
  message: string,
  occurrences: readonly { indices: readonly number[] }[],
  { events }: Evidence,
): Verdict {
  const indices = [...new Set(occurrences.flatMap((occurrence) => occurrence.indices))].sort((a, b) => a - b);
  if (status === 'passed' || indices.length === 0) return { status, message, events: indices };
  return { status, message, events: indices, text: excerpt(events, indices) };
}
