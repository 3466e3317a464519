import { alarmAt, NIGHTS_PER_FALSE_ALARM, openDetector } from '../stats/drift-detector.ts';
import { joined, nightScore, type TaskTrials } from '../stats/night-score.ts';
import { nightsToFind } from '../stats/nights-to-find.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import type { AgentVerdict, CanaryReport, CanaryVerdict } from './canary-report.ts';
import { type CountedNight, describeDrift, nameOf, rateOf } from './describe-drift.ts';
import type { AgentNight, Series } from './series.ts';

/** Drops whose nights are simulated. */
const DROPS = [0.1, 0.2] as const;
const REPLAYS = 100;
/** The share of a night's cases that need a result. With fewer, the infrastructure failed, and the night does not count. */
const LEAST_KNOWN = 0.5;

/** Most serious first. */
const ORDER: readonly CanaryVerdict[] = ['drift', 'unmeasured', 'too-early', 'no-drift'];

/** What the nights of a series show. A drift stays until a new series is started. */
export function judgeSeries(series: Series): CanaryReport {
  const agents = series.agents.map(({ name }) => judgeAgent(series, name));
  return {
    schema_version: '1',
    verdict: ORDER.find((one) => agents.some(({ verdict }) => verdict === one)) ?? 'unmeasured',
    night: nameOf(series.nights, series.nights.length - 1),
    nights_per_false_alarm: NIGHTS_PER_FALSE_ALARM,
    agents,
  };
}

function judgeAgent({ nights, agents }: Series, agent: string): AgentVerdict {
  const alarm = alarmAt(agents.length);
  const counted = countedNights(nights, agent);
  const watch = openDetector();
  let evidence = 0;
  let noticed: number | undefined;
  for (const [place, { score }] of counted.entries()) {
    if (place === 0 || noticed !== undefined) continue;
    evidence = watch(score);
    if (evidence >= alarm) noticed = place;
  }
  const last = counted.at(-1);
  const isCounted = last?.index === nights.length - 1;
  const all = allOf(counted);
  const { trials = 1, agents: tonight = [] } = nights.at(-1) ?? {};
  const latest = tonight.find((one) => one.agent === agent);
  const finds = DROPS.map((drop) => {
    const found = nightsToFind(all, { drop, trials, alarm, replays: REPLAYS, seed: agent });
    return { drop, nights: found ?? null };
  });
  const needed = finds.at(-1)?.nights ?? null;
  const seen = Math.max(0, counted.length - 1);
  const quiet = needed === null || seen < needed ? 'too-early' : 'no-drift';
  return {
    agent,
    verdict: noticed !== undefined ? 'drift' : isCounted ? quiet : 'unmeasured',
    nights: seen,
    ...{ evidence, alarm_at: alarm },
    before: rateOf(isCounted ? allOf(counted.slice(0, -1)) : all),
    tonight: {
      ...rateOf(latest ? trialsOf(latest) : new Map()),
      planned: latest?.planned ?? 0,
      cost_usd: latest?.cost_usd ?? null,
    },
    drift: noticed === undefined ? null : describeDrift(nights, counted, noticed),
    finds,
  };
}

/** The nights of an agent with enough results, each with its score against all nights before. */
function countedNights(nights: Series['nights'], agent: string): CountedNight[] {
  const counted: CountedNight[] = [];
  let before: TaskTrials = new Map();
  for (const [index, { agents, run_id: id }] of nights.entries()) {
    const night = agents.find((one) => one.agent === agent);
    if (!night || !hasEnough(night)) continue;
    const trials = trialsOf(night);
    // The seed is fixed before the night begins, so that running a night again cannot give a better draw.
    const draw = seededRandom(`canary ${id} ${agent}`)();
    counted.push({ index, night, trials, score: nightScore(before, trials, draw) });
    before = joined(before, trials);
  }
  return counted;
}

const trialsOf = ({ tasks }: AgentNight): TaskTrials =>
  new Map(Object.entries(tasks).map(([task, [passed, trials]]) => [task, { passed, trials }]));

function hasEnough(night: AgentNight): boolean {
  const known = rateOf(trialsOf(night)).trials;
  return known > 0 && known >= LEAST_KNOWN * night.planned;
}

const allOf = (nights: readonly CountedNight[]): TaskTrials =>
  nights.reduce<TaskTrials>((all, { trials }) => joined(all, trials), new Map());
