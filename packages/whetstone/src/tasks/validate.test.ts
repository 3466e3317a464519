import { expect, test } from 'vitest';
import type { TaskConfig } from '../config/config.ts';
import type { Surroundings } from '../verify/tests/run-tests.ts';
import type { TestReport, TestStatus } from '../verify/tests/test-runner.ts';
import type { Draft } from './draft.ts';
import { openSolvedRuns } from './solved-runs.ts';
import type { TaskRoom } from './task-room.ts';
import { validateDraft } from './validate.ts';

/** A clean room in which the tests of a repository have these results. */
const roomWith = (
  resultsOf: (isSolved: boolean, surroundings: Surroundings) => Record<string, TestStatus>,
  problemsOf: (isSolved: boolean) => string[] = () => [],
  facts: Pick<TestReport, 'hasTodaysDate' | 'hasUsualOrder'> = {},
) => {
  const runs: (Surroundings & { isSolved: boolean; files: readonly string[] })[] = [];
  const room = {
    environmentOf: async () => '',
    judge: async (
      { validation }: TaskConfig,
      patch: unknown,
      { surroundings = {} }: { surroundings?: Surroundings },
    ) => {
      const files = validation.tests?.files ?? [];
      runs.push({ ...surroundings, isSolved: patch !== null, files });
      const tests = new Map(Object.entries(resultsOf(patch !== null, surroundings)));
      return { seconds: 1, tests: { tests, problems: problemsOf(patch !== null), ...facts } };
    },
  } as unknown as TaskRoom;
  return { room, runs };
};

const draftOf = (...files: string[]) =>
  ({ tests: { runner: 'jest', files }, goldPatch: 'patch' }) as unknown as Draft;
const removalOf = (...files: string[]): Draft => ({ ...draftOf(...files), method: 'remove', solved: 'head' });
const draft = draftOf('a.test.js');
const options = { repeat: 2, signal: new AbortController().signal };
const taskOf = (...files: string[]) => ({ validation: { tests: { files } } }) as unknown as TaskConfig;
const task = taskOf('a.test.js');
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

test('a test that fails with all changes at once only, each time, depends on its surroundings', async () => {
  const { room } = roomWith((isSolved, { order, date }) => ({
    ...shown(isSolved),
    ...(order && date && { kept: 'failed' }),
  }));
  expect(await validateDraft(draft, task, room, options)).toMatchObject({
    excluded: [{ test: 'kept', reason: 'depends on its surroundings' }],
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

test.each([
  ['date', { hasTodaysDate: true }],
  ['order', { hasUsualOrder: true }],
] as const)('a runner that cannot have another %s is not tried with one', async (name, fact) => {
  const { room, runs } = roomWith(shown, () => [], fact);
  const { tried } = { tried: undefined, ...(await validateDraft(draft, task, room, options)) };
  expect(tried).toMatchObject({ order: true, date: true, [name]: false });
  expect(runs.filter((surroundings) => surroundings[name])).toHaveLength(1);
});

test('tests that no surroundings but the usual ones run are not blamed on the order', async () => {
  const { room } = roomWith((isSolved, { date }) => (date ? {} : shown(isSolved)));
  expect(await validateDraft(draft, task, room, options)).toMatchObject({
    refused: 'no reliable test fails without its sources',
    evidence: 'depends on the date',
  });
});

test.each([
  [
    ['a'],
    ['a'],
    'some of its tests cannot be loaded with its sources either',
    { evidence: 'a', mayLack: true, seconds: 2 },
  ],
  [
    ['a', 'b'],
    ['a'],
    'its tests cannot be loaded without its sources',
    { evidence: 'b', mayLack: true, seconds: 2 },
  ],
  [[], [], 'its tests pass without its sources', { seconds: 1 }],
])(
  'files that cannot be loaded, %j without and %j with the sources: %s',
  async (nop, gold, refused, found) => {
    const { room } = roomWith(
      () => ({ kept: 'passed' }),
      (isSolved) => (isSolved ? gold : nop),
    );
    expect(await validateDraft(draft, task, room, options)).toEqual({
      ...{ refused, ...found },
    });
  },
);

test('a file without any test before the work does not count, and is not run again', async () => {
  const { room, runs } = roomWith((isSolved) => ({
    'a.test.js > repaired': isSolved ? 'passed' : 'failed',
    ...(isSolved && { 'b.test.js > slow': 'passed' }),
  }));
  expect(await validateDraft(draftOf('a.test.js', 'b.test.js'), task, room, options)).toMatchObject({
    ...{ files: ['a.test.js'], failToPass: ['a.test.js > repaired'] },
    excluded: [
      { test: 'b.test.js > slow', reason: 'not collected without the patch' },
      { test: 'b.test.js', reason: 'not collected without the patch' },
    ],
  });
  expect(runs.slice(1).map(({ files }) => files)).toEqual(runs.slice(1).map(() => ['a.test.js']));
});

test('the run in other surroundings is one of the repeated runs where it changes nothing', async () => {
  const countRuns = async (later: Record<string, TestStatus>) => {
    const { room, runs } = roomWith((isSolved, { date }) => ({ ...shown(isSolved), ...(date && later) }));
    await validateDraft(draft, task, room, { ...options, repeat: 3 });
    const usual = runs.filter(({ date, order, prefix }) => !date && !order && !prefix);
    const [gold, nop] = [usual.filter(({ isSolved }) => isSolved), usual.filter(({ isSolved }) => !isSolved)];
    return { gold: gold.length, nop: nop.length };
  };
  expect(await countRuns({})).toEqual({ gold: 1, nop: 2 });
  expect(await countRuns({ kept: 'failed' })).toEqual({ gold: 5, nop: 2 }); // three of them tell what changed it
});

test('a file whose tests pass without the code that was taken out is not run again', async () => {
  const { room } = roomWith((isSolved) => ({
    'a.test.js > repaired': isSolved ? 'passed' : 'failed',
    'b.test.js > other': 'passed',
  }));
  const files = ['a.test.js', 'b.test.js'];
  expect(await validateDraft(removalOf(...files), task, room, options)).toMatchObject({
    files: ['a.test.js'],
  });
  expect(await validateDraft(draftOf(...files), task, room, options)).toMatchObject({ files });
});

test('a file in which no test fails twice without the code that was taken out is not run again', async () => {
  const files = ['a.test.js', 'b.test.js'];
  const { room, runs } = roomWith((isSolved) => ({
    'a.test.js > repaired': isSolved ? 'passed' : 'failed',
    'b.test.js > slow': runs.length === 1 ? 'failed' : 'passed',
    'b.test.js > slower': runs.length === 2 ? 'failed' : 'passed',
  }));
  expect(await validateDraft(removalOf(...files), task, room, { ...options, repeat: 3 })).toMatchObject({
    ...{ files: ['a.test.js'], failToPass: ['a.test.js > repaired'] },
  });
  const gold = runs.filter(({ isSolved }) => isSolved);
  expect(gold.map((run) => run.files)).toEqual([['a.test.js'], ['a.test.js']]);
  expect(runs).toHaveLength(4);
});

test('a tree that is the solution of several drafts is run once where its tests name no file', async () => {
  const { room, runs } = roomWith((isSolved) => shown(isSolved));
  const solvedRuns = openSolvedRuns();
  const validate = (draft: Draft, files = task) =>
    validateDraft(draft, files, room, { ...options, repeat: 3, solvedRuns });
  const solved = () => runs.filter(({ isSolved }) => isSolved).length;
  const first = await validate(removalOf('a.test.js'));
  const once = solved();
  expect(await validate(removalOf('a.test.js'))).toMatchObject({ ...first, seconds: 2 });
  expect(solved()).toBe(once);
  await validate(removalOf('a.test.js', 'b.test.js'), taskOf('a.test.js', 'b.test.js'));
  expect(solved()).toBe(2 * once);
  await validate(draftOf('a.test.js'));
  expect(solved()).toBe(3 * once);
  expect(runs.filter(({ isSolved }) => !isSolved)).toHaveLength(8);
});

test('each file of a tree that is the solution of several drafts is run once', async () => {
  const files = ['a.test.js', 'b.test.js', 'b.test.jsx'];
  const { room, runs } = roomWith((isSolved) =>
    Object.fromEntries(files.map((file) => [`${file} > repaired`, isSolved ? 'passed' : 'failed'])),
  );
  const judge: TaskRoom['judge'] = async (task, ...rest) => {
    const found = await room.judge(task, ...rest);
    const isRun = (id: string) => task.validation.tests?.files.some((file) => id.startsWith(`${file} `));
    const tests = [...(found.tests?.tests ?? [])].filter(([id]) => isRun(id));
    return { ...found, tests: { problems: [], tests: new Map(tests) } };
  };
  const solvedRuns = openSolvedRuns();
  const solved = async (...names: string[]) => {
    const before = runs.length;
    const how = { ...options, repeat: 3, solvedRuns };
    expect(await validateDraft(removalOf(...names), taskOf(...names), { ...room, judge }, how)).toMatchObject(
      { files: names, failToPass: names.map((name) => `${name} > repaired`), excluded: [] },
    );
    return runs.slice(before).flatMap((run) => (run.isSolved ? [run.files] : []));
  };
  expect(await solved('a.test.js', 'b.test.js')).toEqual([files.slice(0, 2), files.slice(0, 2)]);
  expect(await solved('b.test.js')).toEqual([]);
  expect(await solved(...files)).toEqual([['b.test.jsx'], ['b.test.jsx']]);
  expect(await solved(...files)).toEqual([]);
});

test('a solved tree that could not be tried is tried again', async () => {
  let isBroken = true;
  const { room } = roomWith((isSolved) => shown(isSolved));
  const judge: TaskRoom['judge'] = async (...args) =>
    isBroken && args[1] !== null
      ? ({ seconds: 1, failure: 'setup failed' } as Awaited<ReturnType<TaskRoom['judge']>>)
      : room.judge(...args);
  const how = { ...options, solvedRuns: openSolvedRuns() };
  const validate = () => validateDraft(removalOf('a.test.js'), task, { ...room, judge }, how);
  expect(await validate()).toMatchObject({ refused: 'its setup fails', isBroken: true });
  isBroken = false;
  expect(await validate()).toMatchObject({ failToPass: ['repaired'] });
});

test('a file that cannot be loaded with the sources either is not said to need them', async () => {
  const { room } = roomWith(
    () => ({ 'a.test.js > broken': 'failed', 'a.test.js > kept': 'passed' }),
    () => ['b.test.js could not be loaded'],
  );
  const judge: TaskRoom['judge'] = async (task, ...rest) => {
    const found = await room.judge(task, ...rest);
    const files = task.validation.tests?.files;
    return files?.length === 1 && found.tests ? { ...found, tests: { ...found.tests, problems: [] } } : found;
  };
  const draft = draftOf('a.test.js', 'b.test.js');
  const { tests } = draft;
  const both = { validation: { tests: { ...tests, mustPass: [] } } } as unknown as TaskConfig;
  expect(await validateDraft(draft, both, { ...room, judge }, options)).toEqual({
    refused: 'some of its tests cannot be loaded with its sources either',
    evidence: 'b.test.js could not be loaded',
    ...{ mayLack: true, seconds: 3 },
  });
});
