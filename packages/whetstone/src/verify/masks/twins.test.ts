import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestRunnerName } from '../../config/schema.ts';
import type { TestReport, TestStatus } from '../tests/test-runner.ts';
import { findTests, idMatcher } from './find-tests.ts';
import { type Mask, type MaskPlan, type MaskSlot, maskPair } from './mask.ts';
import { maskedVerdict, trueReport } from './masked-verdict.ts';

/** Each test of a file: its names, and what it asks for with each of its twins. */
async function twinsOf(
  runner: TestRunnerName,
  file: string,
  text: string,
): Promise<Record<string, string[]>> {
  const found = await findTests(runner, file, text);
  return Object.fromEntries(
    (found?.tests ?? []).map(({ names, twins }) => [
      names.map(String).join(' > '),
      twins.map(({ from, to, same, instead }) => {
        expect(same.length, 'both masks have files of one size').toBe(instead.length);
        const line = (inner: string) => {
          const whole = text.slice(0, from) + inner + text.slice(to);
          const start = whole.lastIndexOf('\n', from) + 1;
          return whole.slice(start, whole.indexOf('\n', from)).trim();
        };
        return line(instead);
      }),
    ]),
  );
}

test('JavaScript: an expected literal becomes another of its look, or the assertion asks for the contrary', async () => {
  const text = `
describe('a', () => {
  it('adds', () => {
    expect(add(1, 1)).toBe(12);
  });
  it.each([[1, 2]])('adds %s and \${x}', (a, b) => {
    assert.deepEqual(add(a, b), { a: ['abc'], [k]: -3 });
  });
  it('throws', async () => {
    await expect(run()).rejects.not.toThrow(/x/);
  });
});
test(\`says \${b}\`, () => equal(say('x'), 'x\\\\n'));
test('is there', function () {
  expect(found).to.be.true;
  assert.ok(found);
});
test.skip('later', () => expect(1).toBe(2));
`;
  expect(await twinsOf('vitest', 'a.test.ts', text)).toEqual({
    'a > adds': ['expect(add(1, 1)).toBe(13);', 'expect(add(1, 1)).not.toBe(12);'],
    'a > /^adds [\\s\\S]* and [\\s\\S]*$/': [
      "assert.deepEqual(add(a, b), { a: ['acb'], [k]: -3 });",
      "assert.deepEqual(add(a, b), { a: ['abc'], [k]: -2 });",
      "assert.notDeepEqual(add(a, b), { a: ['abc'], [k]: -3 });",
    ],
    'a > throws': ['await expect(run()).rejects.    toThrow(/x/);'],
    '/^says [\\s\\S]*$/': [],
    'is there': ['expect(found).to.be.not.true;', 'assert.ok(!(found));'],
  });
});

test('an assertion counts only where no end of the test can come before it, and no condition stands around it', async () => {
  const text = `
test('loops', () => {
  for (const one of all) expect(one).toBe(1);
  if (x) expect(one).toBe(1);
  if (y) return;
  expect(one).toBe(1);
});
test('leaves out', (t) => {
  if (x) t.skip();
  expect(one).toBe(1);
});
`;
  expect(await twinsOf('node-test', 'a.test.js', text)).toEqual({ loops: [], 'leaves out': [] });
});

test('Python: assert statements and methods of unittest', async () => {
  const text = `
class TestA(unittest.TestCase):
    def test_one(self):
        self.assertEqual(add(1, 1), [2, 'ab'])
        self.assertIn(1, found)
    @unittest.skip('later')
    def test_later(self):
        self.assertEqual(1, 2)
@pytest.mark.parametrize('a', [1])
def test_two(a):
    assert add(a) == 7.25, 'message'
    assert found
def test_skips():
    pytest.skip()
    assert add(1) == 2
`;
  expect(await twinsOf('pytest', 'test_a.py', text)).toEqual({
    'TestA > test_one': [
      "self.assertEqual(add(1, 1), [3, 'ab'])",
      "self.assertEqual(add(1, 1), [2, 'ba'])",
      "self.assertNotEqual(add(1, 1), [2, 'ab'])",
      'self.assertNotIn(1, found)',
    ],
    test_two: [
      "assert add(a) == 7.35, 'message'",
      "assert not (add(a) == 7.25), 'message'",
      'assert not (found)',
    ],
    test_skips: [],
  });
});

test('an id belongs to the test of its file and names, a row of a table to its table', () => {
  const isOf = (runner: TestRunnerName, names: (string | RegExp)[], id: string) =>
    idMatcher(runner, 'pkg/tests/test_a.py', names, 'pkg')(id);
  expect(isOf('pytest', ['A', 'test_x'], 'tests/test_a.py::A::test_x[1-a]')).toBe(true);
  expect(isOf('pytest', ['A', 'test_x'], 'tests/test_a.py::A::test_xy')).toBe(false);
  expect(isOf('unittest', ['A', 'test_x'], 'tests.test_a.A.test_x')).toBe(true);
  expect(isOf('vitest', ['a', /^b [\s\S]*$/], 'pkg/tests/test_a.py > a > b 1')).toBe(true);
  expect(isOf('mocha', ['a', 'b (1)'], 'pkg/tests/test_a.py > a b (1)')).toBe(true);
  expect(isOf('vitest', ['a', 'b'], 'pkg/tests/test_a.py > a > bc')).toBe(false);
});

const COUNT = 8;
const text = Array.from({ length: COUNT }, (_, one) => `test('t${one}', () => expect(f()).toBe(1));\n`).join(
  '',
);
const slots: MaskSlot[] = Array.from({ length: COUNT }, (_, one) => {
  const from = text.indexOf('1)', text.indexOf(`'t${one}'`));
  return {
    ...{ file: 'a.test.js', ids: [`a.test.js > t${one}`], free: [] },
    twin: { kind: 'literal', from, to: from + 1, same: '1', instead: '0' },
  };
});
const plan: MaskPlan = {
  ...{ runner: 'vitest', slots, rounds: 1, tests: COUNT },
  texts: new Map([['a.test.js', text]]),
};
const expected = { mustPass: slots.flatMap(({ ids }) => ids), others: [] };

/** What a runner reports of tests that are answered in some way. `answers`: whether a true test, and a twin, passes. */
function reported(
  mask: Mask,
  answers: { isTrue: boolean; isTwin: boolean; sentinel: TestStatus },
): TestReport {
  const tests = new Map<string, TestStatus>();
  const messages = new Map<string, string>();
  for (const [index, { ids }] of slots.entries())
    for (const id of ids)
      tests.set(id, (mask.isTwin[index] ? answers.isTwin : answers.isTrue) ? 'passed' : 'failed');
  for (const { name, nonce } of mask.sentinels) {
    tests.set(`a.test.js > ${name}`, answers.sentinel);
    messages.set(`a.test.js > ${name}`, `Error: ${nonce}`);
  }
  return { tests, messages, problems: [] };
}

test('two masks complement each other, have the same names and sizes, and pass only with the right vector', async () => {
  const pair = await maskPair(plan);
  const [one, other] = pair;
  expect(one.isTwin.every((isTwin, index) => isTwin !== other.isTwin[index])).toBe(true);
  expect(one.texts.get('a.test.js')).toHaveLength(other.texts.get('a.test.js')?.length ?? 0);
  expect(one.sentinels).toHaveLength(3);
  const judge = (isTrue: boolean, isTwin: boolean, sentinel: TestStatus = 'failed') => {
    const runs = pair.map((mask) => ({ mask, report: reported(mask, { isTrue, isTwin, sentinel }) }));
    return { ...maskedVerdict(plan, expected, runs), tests: trueReport(plan, runs).tests };
  };
  expect(judge(true, false)).toMatchObject({ isCheating: false });
  expect(judge(true, false).failure).toBeUndefined();
  expect([...judge(true, false).tests.values()]).toEqual(slots.map(() => 'passed'));
  // Code that is wrong, whatever it makes of the twins, is only wrong.
  for (const isTwin of [true, false])
    expect(judge(false, isTwin)).toMatchObject({
      isCheating: false,
      failure: expect.stringContaining('8 of 8'),
    });
  expect(judge(true, true)).toMatchObject({ isCheating: true });
  expect(judge(true, false, 'passed')).toMatchObject({ isCheating: true });
  expect(judge(true, false, 'skipped')).toMatchObject({ isCheating: false, failure: expect.any(String) });
  const runs = pair.map((mask) => {
    const report = reported(mask, { isTrue: true, isTwin: false, sentinel: 'failed' });
    return { mask, report: { ...report, messages: new Map() } };
  });
  expect(maskedVerdict(plan, expected, runs).failure).toContain('failed in another way');
});

test('no vector but the right one passes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: COUNT, maxLength: COUNT }),
      fc.array(fc.boolean(), { minLength: 2 * COUNT, maxLength: 2 * COUNT }),
      async (coins, said) => {
        const left = [...coins];
        const pair = await maskPair(plan, () => left.shift() ?? false);
        const runs = pair.map((mask, run) => {
          const report = reported(mask, { isTrue: true, isTwin: false, sentinel: 'failed' });
          const tests = new Map(report.tests);
          for (const [index, { ids }] of slots.entries())
            for (const id of ids) tests.set(id, said[run * COUNT + index] ? 'passed' : 'failed');
          return { mask, report: { ...report, tests } };
        });
        const right = [...coins.map((isTwin) => !isTwin), ...coins];
        const isRight = said.every((one, index) => one === right[index]);
        expect(maskedVerdict(plan, expected, runs).failure === undefined).toBe(isRight);
      },
    ),
    { numRuns: 60 },
  );
});
