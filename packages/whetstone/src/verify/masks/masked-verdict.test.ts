import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestReport, TestStatus } from '../tests/test-runner.ts';
import { type Mask, type MaskPlan, type MaskSlot, maskPair } from './exchange-twins.ts';
import { maskedVerdict, trueReport } from './masked-verdict.ts';

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
