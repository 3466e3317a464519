import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { programs } from '../real-agents/install.ts';
import { copyExamples } from './set-up.ts';

const examples = copyExamples({ PATH: `${programs}:${process.env.PATH}` });
afterAll(examples.remove);

const AGENTS = ['claude', 'codex'];
const casesOf = ({ runs }: { runs: { cases: unknown }[] }) => runs.map(({ cases }) => cases);

test('the same evals judge two released agents, are reused, and judged anew after an edit', async () => {
  const first = await examples.whetstone('exp', ...AGENTS, '--jobs', '2');
  expect(casesOf(first)).toMatchObject(AGENTS.map(() => ({ planned: 6, passed: 6 })));
  expect(casesOf(await examples.whetstone('exp', ...AGENTS))).toMatchObject(
    AGENTS.map(() => ({ passed: 6, reused: 6 })),
  );
  const graded = join(examples.root, 'evals/code/graded.eval.ts');
  writeFileSync(graded, readFileSync(graded, 'utf8').replace('a + b', 'b + a'));
  for (const { run_id } of first.runs) {
    const { rescored, changed } = await examples.whetstone('rescore', run_id, '--eval', graded);
    expect([rescored, changed]).toMatchObject([1, [{ before: 'passed', after: 'failed' }]]);
  }
});
