import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyInFile, sendJson, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type LaneMode } from '../index.ts';

test('a command that prints the key of all wires runs once per lane', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'provider-key-'));
  const calls = join(folder, 'calls');
  await using provider = await startProvider((response) => void response.end('{}'));
  await using gateway = await createGateway();
  const upstreams = upstreamsAt(provider.url, { command: `echo called >> '${calls}'; echo key-of-command` });
  const lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams } });
  for (const path of ['/v1/responses', '/v1/messages']) {
    const headers = { authorization: `Bearer ${lane.key}` };
    await fetch(`${lane.baseUrl}${path}`, { method: 'POST', headers, body: '{"model":"m"}' });
  }
  await lane.close();
  expect(await readFile(calls, 'utf8')).toBe('called\n');
  const sent = provider.requests.map(({ headers }) => headers.authorization ?? headers['x-api-key']);
  expect(sent).toEqual(['Bearer key-of-command', 'key-of-command']);
  await rm(folder, { recursive: true });
});

test('a word that a local server takes as its key stays in the answer of the model', async () => {
  const content = 'Hide it: display: none; and set EMPTY to ollama.';
  await using provider = await startProvider((response) => {
    response.setHeader('x-note', 'none');
    sendJson(response, 200, { model: 'none', choices: [{ message: { content } }] });
  });
  await using gateway = await createGateway();
  for (const key of ['none', 'EMPTY', 'ollama', 'x']) {
    const upstreams = upstreamsAt(provider.url, keyInFile(key));
    await using lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams } });
    const response = await fetch(`${lane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${lane.key}` },
      body: '{"model":"m"}',
    });
    expect(response.headers.get('x-note'), key).toBe('none');
    expect(await response.json(), key).toMatchObject({ model: 'none', choices: [{ message: { content } }] });
  }
  const sent = provider.requests.map(({ headers }) => headers.authorization);
  expect(sent).toEqual(['Bearer none', 'Bearer EMPTY', 'Bearer ollama', 'Bearer x']);
});

test.each([
  [{ 'openai-responses': { url: 'http://127.0.0.1:9/v1' } }, 'upstreams["openai-responses"] has no url; '],
  [{ 'openai-response': { baseUrl: 'http://127.0.0.1:9/v1' } }, 'upstreams has no openai-response; '],
])(
  'a misspelt upstream is refused before the key is read, so that it goes to no other address: %j',
  async (given, message) => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-key-'));
    const calls = join(folder, 'calls');
    const key = { command: `echo called >> '${calls}'; echo key-of-command` };
    const upstreams = Object.fromEntries(Object.entries(given).map(([wire, one]) => [wire, { ...one, key }]));
    await using gateway = await createGateway();
    // Only JavaScript can name them so.
    const mode = { kind: 'forward', upstreams } as unknown as LaneMode;
    await expect(gateway.open({ owner: 'a', mode })).rejects.toMatchObject({
      code: 'upstream-invalid',
      message: expect.stringContaining(message),
    });
    await expect(readFile(calls)).rejects.toMatchObject({ code: 'ENOENT' });
    await rm(folder, { recursive: true });
  },
);
