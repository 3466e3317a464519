import type { DrivenAgentKind } from '@whetstone/agents/config';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { describe, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

/** The others (Codex, OpenCode) print a message only when it is whole. */
const streaming: DrivenAgentKind[] = ['claude-code', 'gemini-cli', 'qwen-code', 'pi', 'copilot'];
const ANSWER = 'This answer is cut off. ';

describe.concurrent.each(streaming)('%s', (kind) => {
  test('the text of an answer that never ends is kept', async ({ expect }) => {
    await using gateway = await createGateway();
    await using lane = await gateway.open({
      owner: kind,
      mode: { kind: 'script', script: scriptFromSteps('long', [{ text: ANSWER.repeat(40) }]) },
      faults: [{ fault: { kind: 'hang-mid-stream', afterEvents: 8 } }],
    });
    await using session = await openAgent({ kind, lane });
    const { turn } = await session.turn('Say something.', { timeoutMs: 20_000 });
    expect(turn.status).toBe('failed');
    const texts = turn.events.flatMap((event) => (event.type === 'message' ? event.text : []));
    expect(texts.at(-1)).toMatch(new RegExp(`^${ANSWER}`));
    expect(lane.ledger.length).toBeGreaterThan(0);
  });
});
