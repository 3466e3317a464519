import { expect, test } from 'vitest';
import type { Surroundings } from '../verify/tests/run-tests.ts';
import type { TestReport, TestStatus } from '../verify/tests/test-runner.ts';
import { blameSurroundings, type Varied } from './vary.ts';

const order = { surroundings: { order: true }, reason: 'depends on the order of the tests' } as const;
const date = { surroundings: { date: true }, reason: 'depends on the date' } as const;
const network = { surroundings: { prefix: ['offline'] }, reason: 'needs the network' } as const;

/** What a test is said to be that has these results, in a run of each kind, beginning with one in all surroundings at once. */
async function reasonFor(
  variants: Varied['variants'],
  passes: (surroundings: Surroundings) => boolean,
): Promise<string | undefined> {
  const runIn = async (surroundings: Surroundings): Promise<TestReport> => {
    const status: TestStatus = passes(surroundings) ? 'passed' : 'failed';
    return { tests: new Map([['it', status]]), problems: [] };
  };
  const report = await runIn(Object.assign({}, ...variants.map(({ surroundings }) => surroundings)));
  const varied = { variants, report, tried: { order: true, date: true, network: true } };
  const blamed = await blameSurroundings(varied, ['it'], { in: runIn, asUsual: () => runIn({}) });
  if ('refused' in blamed) throw new Error('It was refused.');
  return blamed.get('it');
}

test.each([
  ['one change', [date]],
  ['two changes', [order, date]],
  ['three changes', [order, date, network]],
])('with %s, a test whose results come back every two, three or four runs is flaky', async (_, variants) => {
  const reasons = new Set<string | undefined>();
  // Neither the one that always passes nor the one that always fails.
  for (const period of [2, 3, 4])
    for (let pattern = 1; pattern < 2 ** period - 1; pattern += 1) {
      let runs = 0;
      reasons.add(await reasonFor(variants, () => ((pattern >> (runs++ % period)) & 1) === 0));
    }
  expect(reasons).toEqual(new Set([undefined, 'flaky']));
});

test('a test that fails each time the surroundings are others is said to depend on them', async () => {
  const all = [order, date, network];
  expect(await reasonFor(all, (surroundings) => !surroundings.order)).toBe(order.reason);
  expect(await reasonFor(all, (surroundings) => !surroundings.date)).toBe(date.reason);
  expect(await reasonFor(all, ({ prefix }) => !prefix)).toBe(network.reason);
  const neither = await reasonFor(all, (surroundings) => !(surroundings.order && surroundings.date));
  expect(neither).toBe('depends on its surroundings');
  expect(await reasonFor(all, () => true)).toBeUndefined();
});

test('a run in the usual surroundings that cannot be had ends the search', async () => {
  const report: TestReport = { tests: new Map([['it', 'failed']]), problems: [] };
  const refusal = { refused: 'its setup fails', isBroken: true, seconds: 1 };
  const varied = { variants: [date], report, tried: { order: false, date: true, network: false } };
  const again = { in: async () => report, asUsual: async () => refusal };
  expect(await blameSurroundings(varied, ['it'], again)).toEqual(refusal);
});
