import { counted, percentNumber, points, pointsRange } from '../report/format.ts';
import type { AgentVerdict, CanaryReport, Drift, NightName, Rate } from './canary-report.ts';

/** A report as plain text: per agent a headline and sentences, and what holds for all of them. */
export type CanaryText = { agents: { headline: string; facts: string[] }[]; notes: string[] };

/** Tasks of a drift that the text names. */
const TASKS_NAMED = 5;

/** Names and texts of agents and tasks are in it as they are: the caller makes them harmless for where it prints them. */
export function describeReport(report: CanaryReport): CanaryText {
  const { agents, nights_per_false_alarm: nights } = report;
  const hasDrift = agents.some(({ drift }) => drift !== null);
  return {
    agents: agents.map((agent) => ({
      headline: `${agent.agent}: ${headlineOf(agent)}`,
      facts: [...(agent.drift ? driftFacts(agent.drift) : []), ...nightFacts(agent)],
    })),
    notes: [
      `On average at most one false alarm in ${nights} nights, while the trials of a task are alike every night.`,
      ...(hasDrift
        ? ['A drift is reported every night until a new series begins: whetstone canary start --force']
        : []),
    ],
  };
}

function headlineOf({ verdict, nights, drift, tonight }: AgentVerdict): string {
  const seen = `after ${counted(nights, 'night')} and the baseline`;
  switch (verdict) {
    case 'drift':
      return drift
        ? `drift, ${drift.direction} since ${nightText(drift.since)}, noticed on ${nightText(drift.noticed)}`
        : 'drift';
    case 'unmeasured':
      return `not measured, because only ${tonight.trials} of ${counted(tonight.planned, 'case')} have a result`;
    case 'too-early':
      return `too early to tell, ${seen}`;
    default:
      return `no drift, ${seen}`;
  }
}

const nightText = ({ night, at }: NightName): string => `night ${night} (${at.slice(0, 10)})`;

const rateText = ({ value, trials }: Rate): string =>
  value === null ? 'unknown' : `${percentNumber(value)} % (${counted(trials, 'case')})`;

function driftFacts({ before, after, difference, interval, tasks, changes }: Drift): string[] {
  const size = difference === null ? '' : `, ${points(difference)} pp on the tasks of both`;
  const range =
    interval === null
      ? ''
      : `; 95 % interval ${pointsRange(interval.low, interval.high)} for tasks like these, too narrow because the night was chosen after the results`;
  const named = tasks
    .slice(0, TASKS_NAMED)
    .map(
      (one) =>
        `${one.task} ${one.before.passed}/${one.before.trials} → ${one.after.passed}/${one.after.trials}`,
    );
  const changed = changes.map(
    ({ what, before, after }) => `${what} ${before ?? 'unknown'} → ${after ?? 'unknown'}`,
  );
  return [
    `Pass rate before: ${rateText(before)}; since: ${rateText(after)}${size}${range}.`,
    ...(named.length > 0 ? [`Tasks that changed most: ${named.join(', ')}.`] : []),
    changed.length > 0
      ? `Also different: ${changed.join('; ')}.`
      : 'Neither the version of the agent nor the models that answered nor the version of Whetstone differ, as far as they are known.',
  ];
}

function nightFacts({
  tonight,
  before,
  nights,
  evidence,
  alarm_at: alarm,
  finds,
  drift,
}: AgentVerdict): string[] {
  const missing = tonight.planned - tonight.trials;
  const lost = missing > 0 ? ` ${counted(missing, 'case')} without a result did not count.` : '';
  const last =
    nights === 0
      ? `The baseline: ${rateText(before.value === null ? tonight : before)}.${lost}`
      : `Tonight ${tonight.passed} of ${counted(tonight.trials, 'case')} passed; all nights before: ${rateText(before)}.${lost}`;
  if (drift) return [last];
  const found = finds.map(({ drop, nights: needed }) =>
    needed === null
      ? `one of ${percentNumber(drop)} pp not within 60`
      : `one of ${percentNumber(drop)} pp in about ${counted(needed, 'night')}`,
  );
  return [
    last,
    `Evidence of a drift: ${Number(evidence.toPrecision(2))}; an alarm needs ${alarm}.`,
    `Of drops that begin now it would find ${found.join(', ')} (medians of 100 simulations).`,
  ];
}
