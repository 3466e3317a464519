import { afterAll, expect, test } from 'vitest';
import { copyExamples } from './set-up.ts';

const examples = copyExamples();
afterAll(examples.remove);

test('the examples pass, are reused the second time and judged anew', async () => {
  const first = await examples.whetstone('exp', 'bot', 'loop', '--jobs', '2');
  expect(first.runs.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    { planned: 16, passed: 16 },
    { planned: 6, passed: 6 },
  ]);
  expect(first.exitCode).toBe(0);
  const again = await examples.whetstone('exp', 'bot', 'loop');
  expect(again.runs.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    { passed: 16, reused: 16 },
    { passed: 6, reused: 6 },
  ]);
  const { rescored, changed } = await examples.whetstone('rescore', first.runs[0].run_id);
  expect([rescored, changed]).toEqual([16, []]);
});
