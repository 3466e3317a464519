import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';

afterAll(removeEvals);

test('an agent in our own process needs neither Git nor a sandbox, and the record says so', async () => {
  const project = makeEvals({
    'evals/hello.eval.ts': `
import { defineEval, includes } from 'whetstone';
export default defineEval({ async test(t) { t.check((await t.send('Hello.')).reply, includes('Done')); } });
`,
    'experiments/base.ts': `
import { defineExperiment } from 'whetstone';
import { defineAgent } from 'whetstone/adapter';
const events = [{ type: 'message' as const, role: 'assistant' as const, text: 'Done.' }];
export default defineExperiment({
  agent: defineAgent({ name: 'own', send: async () => ({ status: 'completed', events }) }),
});
`,
  });
  const withoutPrograms = { PATH: '' };
  const { exitCode, stdout } = await project.whetstone(['exp', '--json'], withoutPrograms);
  expect(exitCode).toBe(0);
  const [summary] = JSON.parse(stdout).runs;
  expect(summary.caveats).toContainEqual(expect.stringContaining('without any isolation'));
  expect(project.rows()).toMatchObject({ hello: { outcome: 'passed', network: 'open' } });
  const manifest = readFileSync(
    join(project.root, '.whetstone/runs', summary.run_id, 'manifest.json'),
    'utf8',
  );
  expect(JSON.parse(manifest)).toMatchObject({
    isolation: { provider: 'none', processes: 'in-process', workspace: 'none' },
    machine: { git: null },
    repo: { dirty: null },
  });
});
