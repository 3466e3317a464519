import { drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import { createGateway, defineScript, type ScriptStep } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['good', 'bad'] },
    lines: { type: 'array', items: { type: 'integer' } },
  },
  required: ['verdict', 'lines'],
  additionalProperties: false,
};
const good = { verdict: 'good', lines: [] };
const bad = { verdict: 'bad', lines: [3] };

/** The model's answers, by prompt. */
const turns: Record<string, ScriptStep[]> = {
  'Judge.': [{ text: 'I look.', calls: [{ tool: 'read', path: 'README.md' }] }, { data: good }],
  'Say hello.': [{ text: 'Hello.' }],
  'Judge again.': [{ data: bad }],
  'Judge once more.': [{ data: { verdict: 'so so' } }, { data: good }],
};
const script = defineScript({
  name: 'judge',
  play({ userText, step }) {
    const prompt = Object.keys(turns).find((text) => userText.includes(text)) ?? '';
    return turns[prompt]?.[step] ?? { text: 'Done.' };
  },
});

const held = drivenAgentKinds.filter((kind) => drivenAgents[kind].facts.structuredOutput);

test.each(held)('%s answers as its schema wants it, and again when it goes on', async (kind) => {
  let heldRequests = 0;
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: kind,
    mode: { kind: 'script', script },
    onRequest({ body }) {
      if (Buffer.from(body).includes('["good","bad"]')) heldRequests += 1;
    },
  });
  await using session = await openAgent({ kind, lane });
  const play = async (prompt: string, schema?: JsonObject) => {
    heldRequests = 0;
    const { turn } = await session.turn(prompt, {
      timeoutMs: 60_000,
      ...(schema && { outputSchema: schema }),
    });
    const { status, data } = turn;
    return { status, data, isHeld: heldRequests > 0 };
  };
  const completed = { status: 'completed', isHeld: true };
  expect(await play('Judge.', outputSchema)).toEqual({ ...completed, data: good });
  expect(await play('Say hello.')).toEqual({ status: 'completed', data: undefined, isHeld: false });
  expect(await play('Judge again.', outputSchema)).toEqual({ ...completed, data: bad });
  // Codex and the server of OpenCode rely on the provider to make the answer fit; the others ask for another answer.
  const data = kind.startsWith('codex-') || kind === 'opencode-sdk' ? { verdict: 'so so' } : good;
  expect(await play('Judge once more.', outputSchema)).toEqual({ ...completed, data });
  expect((await session.files())['README.md']).toBe('Greetings.\n');
});
