import { requireArgument } from '../expect/arguments.ts';
import { type MaybeLater, whenKnown } from '../expect/when-known.ts';
import { type Activity, editing } from './activities.ts';
import type { Evidence } from './evidence.ts';
import type { Occurrence } from './occurrences.ts';

/** A point in the events: the first or the last time that the agent did something. */
export type Moment = {
  readonly kind: 'moment';
  readonly label: string;
  find(evidence: Evidence): MaybeLater<FoundMoment>;
};

export type FoundMoment =
  | { status: 'found'; occurrence: Occurrence }
  | { status: 'never' }
  /** Something may have been it that cannot be judged. */
  | { status: 'unavailable'; reason: string; indices: readonly number[] };

export const first = (activity: Activity): Moment => moment('first', activity, (one, other) => one < other);
export const last = (activity: Activity): Moment => moment('last', activity, (one, other) => one > other);

export const firstEdit: Moment = { ...first(editing()), label: 'firstEdit' };
export const lastEdit: Moment = { ...last(editing()), label: 'lastEdit' };

function moment(
  which: string,
  activity: Activity,
  isBetter: (position: number, than: number) => boolean,
): Moment {
  requireArgument(
    Object(activity).kind === 'activity',
    `${which}()`,
    'what an agent does, such as `running(…)`',
    activity,
  );
  const best = (occurrences: readonly Occurrence[]) =>
    occurrences.reduce<Occurrence | undefined>(
      (found, one) => (found && !isBetter(one.position, found.position) ? found : one),
      undefined,
    );
  return {
    kind: 'moment',
    label: `${which}(${activity.label})`,
    find: (evidence) =>
      whenKnown(activity.find(evidence), ({ hits, open, isComplete }): FoundMoment => {
        const certain = best(hits);
        const rival = best(open);
        if (rival && (!certain || isBetter(rival.position, certain.position))) {
          return { status: 'unavailable', reason: rival.match.reason, indices: rival.indices };
        }
        if (certain) return { status: 'found', occurrence: certain };
        const reason = 'the agent does not report all of its tool calls (capability toolObservability)';
        return isComplete ? { status: 'never' } : { status: 'unavailable', reason, indices: [] };
      }),
  };
}
