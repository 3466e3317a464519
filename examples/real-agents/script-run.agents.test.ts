import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { describe, expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';
import { expectCallsOfTask } from './model-calls.ts';
import { finalFiles, prompt, script } from './task.ts';

const timeoutMs = 150_000;

/** Models with which an agent offers other tools or speaks another wire than with its own. */
const otherModels: readonly (readonly [DrivenAgentKind, string])[] = [
  ['codex-cli', 'gpt-6.1-sol'], // code mode
  ['codex-cli', 'a-model-that-it-does-not-know'],
  ['codex-app-server', 'gpt-6.1-sol'],
  ['codex-app-server', 'a-model-that-it-does-not-know'],
  ['claude-code', 'claude-opus-5-5'],
  ['gemini-cli', 'gemini-3.8-flash'],
  ['opencode-cli', 'gpt-5.5'],
  ['copilot', 'gpt-5.4'],
];
/** As each agent ships, and with models that its users name. `matrix.agents.test.ts` plays the task with known models. */
const runs: readonly (readonly [DrivenAgentKind, string])[] = [
  ...drivenAgentKinds
    .filter((kind) => drivenAgents[kind].release.needsModel === undefined)
    .map((kind) => [kind, 'own'] as const),
  ...otherModels,
];

describe.each(runs)('%s with %s', (kind, model) => {
  test('writes, runs, reads, edits and answers', async () => {
    await using gateway = await createGateway();
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    await using session = await openAgent({ kind, lane, model });
    const { turn } = await session.turn(prompt, { timeoutMs });

    expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit', exitCode: 0 } });
    expect(await session.files()).toMatchObject(finalFiles);
    expectCallsOfTask(kind, model, lane.ledger);
  });
});
