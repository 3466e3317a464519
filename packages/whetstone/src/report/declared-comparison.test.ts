import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { type Planned, sampleManifest, sampleRow } from './__fixtures__/sample-run.ts';
import { calibrateRun } from './calibrate.ts';
import { planPower } from './power-plan.ts';
import { summarize } from './summarize.ts';
import type { Comparison } from './summary.ts';

const tasksOf = (count: number) => Array.from({ length: count }, (_, i) => `task-${i + 1}`);
const numberOf = ({ task_id }: Planned) => Number(task_id.slice(5));

type Case = { outcome?: CaseRow['outcome']; row?: Partial<CaseRow> };

function compare(
  shape: Parameters<typeof sampleManifest>[0],
  declared: Partial<Manifest>,
  caseOf: (planned: Planned, isVariant: boolean) => Case,
): Comparison[] {
  const manifest = sampleManifest(shape, declared);
  const rows = manifest.case_matrix.map((planned) => {
    const { outcome = 'passed', row } = caseOf(planned, planned.variant !== 'baseline');
    return sampleRow(planned, outcome, row);
  });
  return summarize(manifest, rows).comparisons;
}

test('less of a declared amount is better, as the relative change per task', () => {
  const cost = (planned: Planned, isVariant: boolean): Case => ({
    // Tasks cost from 1 to 8 cents; the variant takes 20 % or 30 % less of each.
    row: { cost_usd: 0.01 * numberOf(planned) * (isVariant ? (numberOf(planned) % 2 ? 0.8 : 0.7) : 1) },
  });
  const [one] = compare({ tasks: tasksOf(8) }, { metric: 'cost' }, cost);
  expect(one?.difference).toBeCloseTo(Math.sqrt(0.8 * 0.7) - 1, 12);
  expect(one).toMatchObject({ verdict: 'better', bounds: null, these_tasks_p_value: null });
  expect(one?.sentence).toBe(
    'better: cost per case −25 % for tasks like these, 95 % interval −30 … −21 % over 8 tasks (p < 0.001)',
  );
  const [turned] = compare({ tasks: tasksOf(8) }, { metric: 'cost' }, (planned, isVariant) =>
    cost(planned, !isVariant),
  );
  expect(turned).toMatchObject({ verdict: 'worse' });
  expect(turned?.difference).toBeCloseTo(1 / Math.sqrt(0.8 * 0.7) - 1, 12);
});

test('an amount that is not known counts as the largest and as the smallest one that was seen', () => {
  const [one] = compare({ tasks: tasksOf(8) }, { metric: 'tokens' }, (planned, isVariant) => ({
    row: {
      total_tokens: isVariant ? (numberOf(planned) > 4 ? null : 500) : numberOf(planned) === 8 ? 5000 : 1000,
    },
  }));
  expect(one).toMatchObject({ tasks: 4, verdict: 'inconclusive' });
  expect(one?.interval?.high).toBeLessThan(0);
  expect(one?.interval_bounds?.against?.high).toBeGreaterThan(0);
  expect(one?.sentence).toContain('but the cases without a known amount over 0 could change that');
});

test('an amount of 0 is a result without a ratio, and a verdict must hold with it', () => {
  const tokens = (zeros: number) => (planned: Planned, isVariant: boolean) => ({
    row: {
      total_tokens: isVariant ? 900 + numberOf(planned) : numberOf(planned) > zeros ? 1000 : 0,
    },
  });
  const shape = { tasks: tasksOf(8) };
  expect(compare(shape, { metric: 'tokens' }, tokens(0))).toMatchObject([
    { verdict: 'better', interval_bounds: null },
  ]);
  // The variant took something where the baseline took nothing.
  const [one] = compare(shape, { metric: 'tokens' }, tokens(4));
  expect(one).toMatchObject({ verdict: 'inconclusive', tasks: 4 });
  expect(one?.interval?.high).toBeLessThan(0);
  expect(one?.interval_bounds?.against?.high).toBeGreaterThan(0);
  expect(one?.sentence).toMatch(
    /4 tasks without a known amount over 0 in one of the arms: task-1, task-2, task-3, task-4$/,
  );
  const [nothing] = compare(shape, { metric: 'tokens' }, tokens(8));
  expect(nothing?.sentence).toBe('inconclusive: no task has a known amount over 0 in both arms');
});

test('a difference is equivalent only within a declared margin, over at least 20 tasks', () => {
  const sameRates = (planned: Planned): Case => ({ outcome: numberOf(planned) % 2 ? 'passed' : 'failed' });
  const verdictOf = (tasks: number, equivalence?: number) =>
    compare({ tasks: tasksOf(tasks), trials: 3 }, { ...present({ equivalence }) }, sameRates)[0];
  expect(verdictOf(30, 0.08)).toMatchObject({ verdict: 'equivalent', equivalence: { margin: 0.08 } });
  expect(verdictOf(30, 0.08)?.sentence).toBe(
    'equivalent: 0 pp for tasks like these, 95 % interval −6 … +6 pp over 30 tasks, within the declared ±8 pp',
  );
  // That of the difference is narrower: all tasks have the same rate in both arms.
  expect(verdictOf(30, 0.08)?.interval?.high).toBeLessThan(0.05);
  expect(verdictOf(30, 0.05)).toMatchObject({ verdict: 'inconclusive' });
  expect(verdictOf(30)).toMatchObject({ verdict: 'inconclusive', equivalence: null });
  expect(verdictOf(30, 0.03)).toMatchObject({ verdict: 'inconclusive', equivalence: { tasks_needed: 72 } });
  expect(verdictOf(19, 0.2)).toMatchObject({ verdict: 'inconclusive', equivalence: { interval: null } });
});

test('cases without a result that could make a difference keep arms from being equivalent', () => {
  const [one] = compare({ tasks: tasksOf(30), trials: 3 }, { equivalence: 0.1 }, (planned, isVariant) => ({
    outcome: isVariant && numberOf(planned) > 20 ? 'error' : 'passed',
  }));
  expect(one).toMatchObject({ verdict: 'inconclusive', tasks: 20 });
});

test('a variant of several agents is also compared over all of them, per task by the mean difference', () => {
  const comparisons = compare({ agents: ['one', 'two'], tasks: tasksOf(6) }, {}, (planned, isVariant) => ({
    outcome: isVariant && (planned.agent_name === 'one' || numberOf(planned) > 3) ? 'passed' : 'failed',
  }));
  expect(comparisons.map(({ agent, difference }) => [agent, difference])).toEqual([
    ['one', 1],
    ['two', 0.5],
    ['all agents', 0.75],
  ]);
  expect(comparisons[2]).toMatchObject({ pooled: true, tasks: 6, verdict: 'better' });
});

test('a task that one agent has no result for is left out of the comparison over all agents', () => {
  const [, , pooled] = compare({ agents: ['one', 'two'], tasks: tasksOf(6) }, {}, (planned, isVariant) => ({
    outcome: planned.agent_name === 'two' && planned.task_id === 'task-6' && isVariant ? 'error' : 'passed',
  }));
  expect(pooled).toMatchObject({ tasks: 5, tasks_without_result: ['task-6'], difference: 0 });
});

test('a pass rate that falls while the run goes on is a caveat, whatever the arms', () => {
  const manifest = sampleManifest({ tasks: tasksOf(12) });
  const rowsWith = (passes: (block: number) => boolean) =>
    manifest.case_matrix.map((planned) =>
      sampleRow(planned, passes(planned.block) ? 'passed' : 'failed', {
        started_at: `2026-01-02T03:${String(10 + planned.block)}:00.000Z`,
      }),
    );
  const falling = summarize(
    manifest,
    rowsWith((block) => block < 6),
  );
  expect(falling.drift).toMatchObject([{ agent: 'loop', blocks: 12 }]);
  expect(falling.caveats.join()).toMatch(
    /The pass rate of loop changed by about −\d+ pp from the first block .* \(p = 0\.00/,
  );
  const steady = summarize(
    manifest,
    rowsWith((block) => block % 2 === 0),
  );
  expect(steady.drift[0]?.p_value).toBeGreaterThan(0.5);
  expect(steady.caveats.join()).not.toContain('from the first block');
});

test('plans and calibrations are about pass rates, and refuse a run that compares something else', () => {
  const manifest = sampleManifest({ tasks: tasksOf(6) }, { metric: 'cost' });
  const run = { manifest, rows: manifest.case_matrix.map((planned) => sampleRow(planned, 'passed')) };
  const refusal = /needs a run that compares pass rates, and run \S+ compares cost per case/;
  expect(() => planPower({ effect: 0.1, power: 0.8, trials: [1], jobs: 1 }, run)).toThrow(refusal);
  expect(() => calibrateRun(run, { effect: 0.1, replays: 10 })).toThrow(refusal);
});
