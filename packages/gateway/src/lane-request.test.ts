import { expect, test } from 'vitest';
import { postJson } from './__fixtures__/clients.ts';
import { createGateway, type LaneRequest, scriptFromSteps } from './index.ts';

const mode = { kind: 'script', script: scriptFromSteps('answer', [{ text: 'OK.' }]) } as const;

test('onRequest gets each model call as it was sent, without its key, before it is answered', async () => {
  const requests: LaneRequest[] = [];
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: 'a',
    mode,
    onRequest: (request) => requests.push(request),
  });
  const text = '{ "messages": [ {"role":"user","content":"caf\\u00e9"} ],  "model":"m" }';
  const response = await fetch(`${lane.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': lane.key, 'anthropic-beta': 'some-beta', 'x-other': `has ${lane.key}` },
    body: text,
  });
  expect(response.status).toBe(200);
  await response.text();
  expect(requests).toHaveLength(1);
  const [request] = requests;
  expect(Buffer.from(request?.body ?? []).toString()).toBe(text);
  expect(request).toMatchObject({ wire: 'anthropic-messages', headers: { 'anthropic-beta': 'some-beta' } });
  expect(JSON.stringify(request?.headers)).not.toContain(lane.key);
  await lane.close();
  expect(lane.ledger.map(({ id }) => id)).toEqual([request?.id]);
});

test('onRequest gets only model calls with the right key, and its errors are ignored', async () => {
  const seen: string[] = [];
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: 'a',
    mode,
    onRequest: ({ wire }) => {
      seen.push(wire);
      throw new Error('a broken listener');
    },
  });
  await fetch(`${lane.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${lane.key}` } });
  await fetch(`${lane.baseUrl}/v1/responses`, { method: 'POST', body: '{}' });
  const answer = await postJson(lane, '/v1/responses', { model: 'm', input: 'hello' });
  expect(answer.status).toBe(200);
  expect(seen).toEqual(['openai-responses']);
});
