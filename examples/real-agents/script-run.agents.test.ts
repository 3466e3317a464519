import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { createGateway, type LedgerLine } from '@whetstone/gateway';
import { describe, expect, test } from 'vitest';
import { KNOWN_MODELS, openAgent } from './drive-agent.ts';
import { finalFiles, prompt, replies, script } from './task.ts';

const timeoutMs = 60_000;

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
/** As each agent ships, and with models that its users name. */
const runs: readonly (readonly [DrivenAgentKind, string])[] = [
  ...drivenAgentKinds.flatMap((kind) => [
    [kind, KNOWN_MODELS[kind]] as const,
    ...(drivenAgents[kind].release.needsModel === undefined ? [[kind, 'own'] as const] : []),
  ]),
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
    const calls = modelCalls(lane.ledger);
    expect(calls.map(({ status, step }) => [status, step])).toEqual(
      Array.from({ length: replies }, (_, step) => [200, step]),
    );
    for (const call of calls) {
      if (model !== 'own') expect(call.wire).toBe(drivenAgents[kind].release.wire);
      expect(call.model_asked).toBe(model === 'own' ? calls[0]?.model_asked : model);
      expect(call.model_answered).toMatch(/./);
      expect(call.usage?.inputTokens).toBeGreaterThan(1000);
      expect(call.usage?.outputTokens).toBeGreaterThan(0);
    }
  });
});

const modelCalls = (ledger: readonly LedgerLine[]): LedgerLine[] =>
  ledger.filter(({ flags }) => !flags.includes('auxiliary') && !flags.includes('side-request'));
