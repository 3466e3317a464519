import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway, defineScript } from '@whetstone/gateway';
import { expect, onTestFinished, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

const script = defineScript({
  name: 'provider',
  play: ({ step }) => (step === 0 ? { calls: [{ tool: 'shell', command: 'ls' }] } : { text: 'Done.' }),
});

test('the budget of a try ends its model calls, its cases are missing, and the plan names it', async () => {
  const provider = await createGateway();
  onTestFinished(() => provider.close());
  const lane = await provider.open({ owner: 'upstream', mode: { kind: 'script', script } });
  using project = makeProject({
    files: { 'README.md': 'A project.\n' },
    tasks: ['a', 'b', 'c'].map((id) => ({ id, prompt: 'x' })),
    config: {
      agents: { loop: { kind: 'loop', profile: 'anthropic' } },
      gateway: { mode: 'forward', upstreams: { anthropic: { url: lane.baseUrl } } },
    },
  });
  writeFileSync(join(project.repo, 'AGENTS.md'), 'Be quick.\n');
  const { stdout, stderr } = await project.whetstone(
    [
      ...['try', join(project.repo, 'AGENTS.md'), '--trials', '1', '--jobs', '1'],
      ...['--budget', '0.000001', '--yes', '--json'],
    ],
    { ANTHROPIC_API_KEY: lane.key },
  );
  expect(JSON.parse(stdout).plan, stderr).toMatchObject({ cases: 6, budget_usd: 0.000001 });
  const { rows } = project.latest();
  // Cases that the budget of the whole try ended are missing, not failed.
  expect(rows.map(({ outcome, failure_class }) => [outcome, failure_class])).toEqual(
    Array(6).fill(['error', 'harness']),
  );
  // The first call is paid before its cost is known; no other one is made.
  expect(lane.ledger).toHaveLength(1);
});
