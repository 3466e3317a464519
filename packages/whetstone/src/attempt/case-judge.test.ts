import { present } from '@whetstone/events/present';
import { createGateway, defineScript } from '@whetstone/gateway';
import { createMask } from '@whetstone/sandbox/mask';
import { expect, test } from 'vitest';
import { openCaseJudge } from './case-judge.ts';

const verdict = {
  criteria: [{ met: 'yes', reason: 'Seen.', quotes: ['Hello there, Ada'] }],
  manipulation: '',
};
const question = { criteria: ['Is polite'], material: [{ given: 'Hello there, Ada' }] };

/** A judge whose model a script plays. `ask`: how a call is made. */
async function open(ask: typeof call, budget?: { calls: number }) {
  const server = await createGateway({ ...present({ budget }) });
  const script = defineScript({ name: 'judge', play: () => ({ data: verdict }) });
  const gateway = {
    server,
    laneOf: async () => ({ mode: { kind: 'script' as const, script, seed: '1' } }),
  };
  const model = ({ baseUrl, key }: { baseUrl: string; key: string }) => ({
    ...{ specificationVersion: 'v4', provider: 'own', modelId: 'judge-1', supportedUrls: {} },
    async doGenerate() {
      const { text, modelId } = await ask({ baseUrl, key }, 'judge-1');
      const answer = { content: [{ type: 'text', text }], finishReason: 'stop', usage: {}, warnings: [] };
      return { ...answer, response: { modelId } };
    },
  });
  const config = { model, votes: 1, sameAsAgent: false, file: '/config' };
  const judged = {
    ...{ planned: { id: 'case-1' }, models: () => ['agent-model'], mask: createMask([]) },
    ...{ signal: new AbortController().signal, onAnswer: () => undefined },
  };
  const judge = openCaseJudge(judged, { config, gateway, fingerprint: 'one' });
  return {
    judge,
    async [Symbol.asyncDispose]() {
      await judge[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function call(
  { baseUrl, key }: { baseUrl: string; key: string },
  model: string,
): Promise<{ text: string; modelId: string }> {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Judge.' }] }),
  });
  const body = (await response.json()) as {
    choices: { message: { content: string } }[];
    error: { message: string };
  };
  if (!response.ok) throw new Error(body.error.message);
  return { text: body.choices[0]?.message.content ?? '', modelId: model };
}

test('only a failure that the budget caused is said to be one', async () => {
  const another = async () => ({ text: JSON.stringify(verdict), modelId: 'another-1' });
  await using opened = await open(another, { calls: 1 });
  const lane = await opened.judge.judgeLane();
  await call(lane, 'judge-1');
  await expect(call(lane, 'judge-1')).rejects.toThrow('budget');
  expect(await opened.judge.judge(question)).toMatchObject({
    ...{ status: 'unavailable', message: expect.stringContaining('another-1 answered in place of judge-1') },
  });
});

test('a scorer may ask the model of the agent without being taken for the judge', async () => {
  await using opened = await open(call);
  const lane = await opened.judge.judgeLane();
  await call(lane, 'agent-model');
  expect(await opened.judge.judge(question)).toMatchObject({ status: 'passed' });
});
