import { join } from 'node:path';
import { deriveAgentMetadata } from '@whetstone/events';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../__fixtures__/attempt.ts';
import type { Turn } from '../agent.ts';
import { createAgent } from '../create-agent.ts';

const recorded = join(import.meta.dirname, '../native/codex-cli/__fixtures__/codex-0.169.0/main');
const printsStream = `cat ${recorded}.stream.jsonl`;
/** As Codex does, during the turn. */
const keepsRollout = `mkdir -p "$HOME/.codex/sessions/2026/11/22"; sed s/2026-11-22/2099-11-22/ ${recorded}.transcript.jsonl |
  sed '/"timestamp":"2099-11-22T02:28:40/d' > "$HOME/.codex/sessions/2026/11/22/rollout-1-01a20115-8da2-7231-bfe2-e48539252d93.jsonl"`;

async function turnOf(script: string): Promise<Turn> {
  await using attempt = await startAttempt('do it');
  const command = { kind: 'shell', script } as const;
  const agent = await createAgent(agentConfig({ kind: 'codex-cli', command }), {
    environment: {},
    hasLanes: true,
  });
  return await agent.send({ text: 'do it' }, attempt.context);
}

test('Codex: model calls, models and cost of a turn come from its rollout', async () => {
  const { events, facts, usage, costUsd } = await turnOf(`${keepsRollout}; ${printsStream}`);
  const metadata = deriveAgentMetadata(events, facts);
  expect(metadata).toMatchObject({ modelCalls: 9, models: ['gpt-5.5'], runtimeVersion: '0.169.0', usage });
  expect(metadata.tools.map(({ name }) => name)).toContain('apply_patch');
  // 85,350 input tokens at 5 dollars and 99 output tokens at 30 dollars per million.
  expect(costUsd).toBeCloseTo(0.42972, 5);
  expect(metadata.costUsd).toBe(costUsd);
});

test('Codex: without a rollout, one usage of several calls does not say how many', async () => {
  const { events, facts, costUsd, usage } = await turnOf(printsStream);
  expect(usage).toMatchObject({ inputTokens: 85_350 });
  expect(costUsd).toBeUndefined();
  expect(deriveAgentMetadata(events, facts)).toMatchObject({ modelCalls: null, usage });
});
