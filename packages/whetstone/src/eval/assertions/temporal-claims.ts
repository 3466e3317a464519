import { plural } from '../expect/show.ts';
import { type MaybeLater, whenAllKnown, whenKnown } from '../expect/when-known.ts';
import { type Activity, calling, editing, reading, running, saying, seeing } from './activities.ts';
import type { Claim, Verdict } from './assertion.ts';
import { callText } from './call-text.ts';
import { type Evidence, eventsIn, windowOf } from './evidence.ts';
import type { FoundMoment, Moment } from './moments.ts';
import { boundsOf, countVerdict, withEvidence } from './occurrences.ts';
import { toolUses } from './tool-claims.ts';

/** What each method of `Activities` looks for. */
export const activityOf = {
  ran: running,
  read: reading,
  edited: editing,
  calledTool: calling,
  event: seeing,
  said: saying,
};

/** Which events count: all, those after a moment, or those before it. */
export type Window = { side: 'after' | 'before'; moment: Moment } | undefined;

/** It happened in the window, or with `never` it did not. */
export function activityClaim(
  evidence: Evidence,
  activity: Activity,
  { window, isNever }: { window: Window; isNever: boolean },
): Claim {
  const place = window ? `${window.side}(${window.moment.label}).` : '';
  return {
    name: `${place}${isNever ? 'never.' : ''}${activity.label}`,
    verdict: inWindow(evidence, window, (inside) =>
      whenKnown(activity.find(inside), (found) =>
        countVerdict(found, isNever ? { least: 0, most: 0 } : boundsOf(undefined), {
          noun: 'time',
          evidence: inside,
        }),
      ),
    ),
  };
}

/** A moment that never came fails the assertion: else `after(x).never` would pass for an agent that did nothing. */
function inWindow(
  evidence: Evidence,
  window: Window,
  check: (inside: Evidence) => MaybeLater<Verdict>,
): MaybeLater<Verdict> {
  if (!window) return check(evidence);
  return whenKnown(window.moment.find(evidence), (found): MaybeLater<Verdict> => {
    if (found.status !== 'found') return withoutMoment(window.moment, found, evidence);
    const { position, indices } = found.occurrence;
    const inside = windowOf(evidence, { [window.side]: position });
    return whenKnown(check(inside), (verdict): Verdict => {
      if (verdict.status === 'passed') return verdict;
      const events = [{ indices: [...indices] }, { indices: [...(verdict.events ?? [])] }];
      const message = `${verdict.message} (${window.side} #${indices[0]}, ${window.moment.label})`;
      return withEvidence(verdict.status, message, events, evidence);
    });
  });
}

function withoutMoment(
  { label }: Moment,
  found: Exclude<FoundMoment, { status: 'found' }>,
  evidence: Evidence,
): Verdict {
  if (found.status === 'never') return { status: 'failed', message: `${label} never came` };
  return withEvidence('unavailable', `${label}: ${found.reason}`, [found], evidence);
}

/** `first` came before `second`; both came. */
export function beforeClaim(evidence: Evidence, first: Moment, second: Moment): Claim {
  return {
    name: `before(${first.label}, ${second.label})`,
    verdict: whenAllKnown([first.find(evidence), second.find(evidence)], ([one, other]) => {
      for (const [moment, found] of [
        [first, one],
        [second, other],
      ] as const) {
        if (found && found.status !== 'found') return withoutMoment(moment, found, evidence);
      }
      const [early, late] = [one, other].flatMap((found) =>
        found?.status === 'found' ? found.occurrence : [],
      );
      if (!early || !late) throw new Error('both moments were found');
      const isBefore = early.position < late.position;
      const message = `${first.label} is #${early.indices[0]}, and ${second.label} is #${late.indices[0]}`;
      return withEvidence(isBefore ? 'passed' : 'failed', message, [early, late], evidence);
    }),
  };
}

/** It took at most so many turns, model calls or tool calls. */
export const withinClaims = {
  turns(evidence: Evidence, limit: number): Claim {
    const name = `${callText('within', limit)}.turns`;
    const { starts, isCertain } = turnsOf(evidence);
    const message = `${plural(starts.length, 'turn')}, and at most ${limit} are expected`;
    const beyond = [{ indices: starts.slice(limit) }];
    if (starts.length > limit) return { name, verdict: withEvidence('failed', message, beyond, evidence) };
    const verdict: Verdict = isCertain
      ? { status: 'passed', message }
      : { status: 'unavailable', message: `${message}: the events do not say where each turn begins` };
    return { name, verdict };
  },

  modelCalls(evidence: Evidence, limit: number): Claim {
    const usages = eventsIn(evidence, 'usage');
    const counts = usages.map(({ event }) => (event.calls === undefined ? 1 : event.calls));
    const least = counts.reduce<number>((sum, calls) => sum + (calls ?? 1), 0);
    const message = `${plural(least, 'model call')}, and at most ${limit} are expected`;
    const isKnown = counts.length > 0 && !counts.includes(null);
    const status = least > limit ? 'failed' : isKnown ? 'passed' : 'unavailable';
    const why = status === 'unavailable' ? ': the agent does not report how many model calls it made' : '';
    const name = `${callText('within', limit)}.modelCalls`;
    return { name, verdict: withEvidence(status, `${message}${why}`, usages, evidence) };
  },

  toolCalls(evidence: Evidence, limit: number): Claim {
    return { name: `${callText('within', limit)}.toolCalls`, verdict: toolUses(evidence, limit) };
  },
};

/** Where the turns begin. Each session counts its turns from 0, so that the events of two sessions may hide a turn. */
function turnsOf(evidence: Evidence): { starts: readonly number[]; isCertain: boolean } {
  const { scope, turnStarts } = evidence.subject;
  if (turnStarts) return { starts: turnStarts, isCertain: true };
  const events = eventsIn(evidence);
  const starts: number[] = [];
  let turn: number | undefined;
  let sessions = 0;
  for (const { event, indices } of events) {
    if (event.type === 'session.started') sessions += 1;
    if (event.turn === undefined || event.turn === turn) continue;
    turn = event.turn;
    starts.push(indices[0]);
  }
  if (scope === 'turn')
    return { starts: events.slice(0, 1).map(({ indices: [index] }) => index), isCertain: true };
  return { starts, isCertain: starts.length > 0 && (scope === 'session' || sessions <= 1) };
}
