import { expect, test } from 'vitest';
import type { Surroundings } from '../verify/tests/run-tests.ts';
import type { TestStatus } from '../verify/tests/test-runner.ts';
import type { Draft } from './draft.ts';
import type { TaskRoom } from './task-room.ts';
import { validateDraft } from './validate.ts';

/** A clean room in which the tests of a repository have these results. */
const roomWith = (
  resultsOf: (isSolved: boolean, surroundings: Surroundings) => Record<string, TestStatus>,
  problemsOf: (isSolved: boolean) => string[] = () => [],
) => {
  const runs: Surroundings[] = [];
  const room = {
    judge: async (_: unknown, patch: unknown, { surroundings = {} }: { surroundings?: Surroundings }) => {
      runs.push(surroundings);
      const tests = new Map(Object.entries(resultsOf(patch !== null, surroundings)));
      return { seconds: 1, tests: { tests, problems: problemsOf(patch !== null) } };
    },
  } as unknown as TaskRoom;
  return { room, runs };
};

const draft = { tests: { runner: 'jest', files: ['a.test.js'] }, goldPatch: 'patch' } as unknown as Draft;
const options = { repeat: 2, signal: new AbortController().signal };
const task = {} as Parameters<typeof validateDraft>[1];
const shown = (isSolved: boolean): Record<string, TestStatus> => ({
  repaired: isSolved ? 'passed' : 'failed',
  kept: 'passed',
});

test('tests whose result changes in another order do not count', async () => {
  const { room } = roomWith((isSolved, { order }) => ({
    ...shown(isSolved),
    ...(order && { kept: 'failed' }),
  }));
  expect(await validateDraft(draft, task, room, options)).toMatchObject({
    ...{ failToPass: ['repaired'], passToPass: [] },
    excluded: [{ test: 'kept', reason: 'depends on the order of the tests' }],
    tried: { order: true },
  });
});

test('a runner that refuses another order is not tried in one, and its tests count', async () => {
  const { room, runs } = roomWith((isSolved, { order }) => (order ? {} : shown(isSolved)));
  expect(await validateDraft(draft, task, room, options)).toMatchObject({
    ...{ failToPass: ['repaired'], passToPass: ['kept'], excluded: [] },
    tried: { order: false, date: true },
  });
  expect(runs.filter(({ order }) => order)).toHaveLength(1);
});

test('tests that no surroundings but the usual ones run are not blamed on the order', async () => {
  const { room } = roomWith((isSolved, { date }) => (date ? {} : shown(isSolved)));
  expect(await validateDraft(draft, task, room, options)).toMatchObject({
    refused: 'no reliable test fails without its sources',
    evidence: 'depends on the date',
  });
});

test.each([
  [['a'], ['a'], 'some of its tests cannot be loaded with its sources either', 'a'],
  [['a', 'b'], ['a'], 'its tests cannot be loaded without its sources', 'b'],
  [[], [], 'its tests pass without its sources', undefined],
])(
  'files that cannot be loaded, %j without and %j with the sources: %s',
  async (nop, gold, refused, evidence) => {
    const { room } = roomWith(
      () => ({ kept: 'passed' }),
      (isSolved) => (isSolved ? gold : nop),
    );
    expect(await validateDraft(draft, task, room, options)).toEqual({
      ...{ refused, seconds: 2 },
      ...(evidence !== undefined && { evidence }),
    });
  },
);
