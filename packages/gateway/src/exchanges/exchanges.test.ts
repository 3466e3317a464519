import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMask } from '../../../sandbox/src/mask.ts';
import { clientOf, postJson, shellTool, userPrompt, ways } from '../__fixtures__/clients.ts';
import { keyInFile, sse, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import {
  createGateway,
  describeExchange,
  type Gateway,
  type LaneMode,
  readExchange,
  type ScriptStep,
  wireProtocols,
} from '../index.ts';

let folder: string;
let file: string;
let gateway: Gateway;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exchanges-'));
  file = join(folder, 'exchanges.jsonl.zst');
  gateway = await createGateway();
});
afterEach(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const open = (mode: LaneMode, mask = createMask([])) =>
  gateway.open({ owner: 'a', mode, exchanges: { file, mask: () => mask.stream() } });

const playing = (step: ScriptStep): LaneMode => ({
  kind: 'script',
  script: { name: 'one step', play: () => step },
});

const read = (id = '') => readExchange(createReadStream(file), id);
const unpacked = async () => String(await promisify(zstdDecompress)(await readFile(file)));

describe.each(wireProtocols)('%s', (wire) => {
  test.each(ways)('%s: the request and the reply of each call can be read', async (_way, receive) => {
    const step = {
      thinking: 'First look around.',
      text: 'Looking at it, at some length: so long that a stream cuts it into several pieces.',
      calls: [{ tool: 'shell' as const, command: 'ls -la' }],
    };
    const lane = await open(playing(step));
    const prompt = [{ role: 'system' as const, content: 'Be brief.' }, ...userPrompt('Look.')];
    await receive(clientOf(wire, lane), { prompt, tools: [shellTool] });
    await lane.close();
    const kept = await read(lane.ledger[0]?.id);
    expect(kept).toMatchObject({
      wire,
      request_omitted: 0,
      reply_omitted: 0,
      is_stream: _way === 'streamed',
    });
    const { request, reply } = describeExchange(kept ?? { wire, request: '', reply: '' });
    expect(request).toMatchObject({
      system: ['Be brief.'],
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Look.' }] }],
      tools: [{ name: 'shell', definition: expect.stringContaining('"command"') }],
    });
    expect(reply).toHaveLength(1);
    const parts = reply[0]?.parts ?? [];
    expect(parts.map(({ kind }) => kind)).toEqual(['thinking', 'text', 'call']);
    expect(parts[1]?.text).toBe(step.text);
    expect(parts[2]).toMatchObject({ name: 'shell', text: '{"command":"ls -la"}' });
  });
});

test('no secret is kept in any form, not even one that a stream cut up, and no header', async () => {
  const secret = 'a-secret-of-the-agent';
  const pieces = ['The key is a-sec', 'ret-of-', 'the-agent, ', Buffer.from(secret).toString('base64')];
  await using provider = await startProvider((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [sequence_number, delta] of pieces.entries()) {
      response.write(sse({ type: 'response.output_text.delta', item_id: 'm', sequence_number, delta }));
    }
    response.end();
  });
  const upstreams = upstreamsAt(provider.url, keyInFile('key-of-the-provider'));
  const lane = await open({ kind: 'forward', upstreams }, createMask([secret]));
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    input: `${secret} ${[...secret].reverse().join('')} ${Buffer.from(secret).toString('hex')}`,
  });
  const headers = { authorization: `Bearer ${lane.key}`, 'x-own': 'in-a-header' };
  await (await fetch(`${lane.baseUrl}/v1/responses`, { method: 'POST', headers, body })).text();
  await lane.close();
  const text = await unpacked();
  for (const form of ['a-sec', 'ret-of-', 'the-agent', 'key-of-the-provider', lane.key, 'in-a-header']) {
    expect(text).not.toContain(form);
  }
  const kept = await read(lane.ledger[0]?.id);
  expect(kept && JSON.parse(kept.request ?? '').input).toBe('[masked] [masked] [masked]');
  expect(kept && describeExchange(kept).reply[0]?.parts[0]?.text).toBe('The key is [masked], [masked]');
});

test('a mask that fails does not break the call, and nothing unmasked is kept', async () => {
  const mask = () => {
    throw new Error('out of order');
  };
  const lane = await gateway.open({
    ...{ owner: 'a', mode: playing({ text: 'Yes.' }) },
    exchanges: { file, mask },
  });
  await postJson(lane, '/v1/responses', { model: 'm', input: 'a secret' });
  await expect(lane.close()).rejects.toMatchObject({
    code: 'exchanges-unwritable',
    message: expect.stringContaining('out of order'),
  });
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('what a conversation repeats takes little room', async () => {
  const lane = await open(playing({ text: 'Yes.' }));
  const words = Array.from({ length: 20_000 }, (_, index) => ((index * 7919) % 104_729).toString(36));
  const input: unknown[] = [{ role: 'user', content: words.join(' ') }];
  for (let turn = 0; turn < 20; turn++) {
    input.push(
      { role: 'assistant', content: `Answer ${turn}` },
      { role: 'user', content: `Question ${turn}` },
    );
    await postJson(lane, '/v1/responses', { model: 'm', input });
  }
  await lane.close();
  const [plain, { size }] = [(await unpacked()).length, await stat(file)];
  expect(plain).toBeGreaterThan(1_500_000);
  expect(size).toBeLessThan(plain / 25);
});

test('a file that is still written, or has lost its end, has the calls that it has', async () => {
  const lane = await open(playing({ text: 'Yes.' }));
  for (const input of ['one', 'two']) await postJson(lane, '/v1/responses', { model: 'm', input });
  await expect
    .poll(() => read(lane.ledger[1]?.id).catch(() => undefined), { timeout: 20_000 })
    .toMatchObject({ request: '{"model":"m","input":"two"}' });
  const { size } = await stat(file);
  await postJson(lane, '/v1/responses', { model: 'm', input: 'three' });
  await lane.close();
  expect(await read(lane.ledger[2]?.id)).toMatchObject({ request: '{"model":"m","input":"three"}' });
  await truncate(file, size + 5);
  expect(await read(lane.ledger[2]?.id)).toBeUndefined();
  expect(await read(lane.ledger[1]?.id)).toMatchObject({ request: '{"model":"m","input":"two"}' });
  expect(await read('another')).toBeUndefined();
});

test('only the beginning of a huge reply is kept, and the line says how much is not', async () => {
  const piece = `${'x'.repeat(2 ** 20)}\n`;
  await using provider = await startProvider(async (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (let count = 0; count < 18; count++) response.write(piece);
    response.end();
  });
  const upstreams = upstreamsAt(provider.url, keyInFile('a-key'));
  const lane = await open({ kind: 'forward', upstreams });
  const headers = { authorization: `Bearer ${lane.key}` };
  const init = { method: 'POST', headers, body: '{"model":"m"}' };
  await (await fetch(`${lane.baseUrl}/v1/responses`, init)).arrayBuffer();
  await lane.close();
  const kept = await read(lane.ledger[0]?.id);
  expect(kept?.reply?.length).toBeGreaterThan(15 * 2 ** 20);
  expect((kept?.reply?.length ?? 0) + (kept?.reply_omitted ?? 0)).toBe(18 * piece.length);
});

test('a file that cannot be written fails the lane when it closes, and no call', async () => {
  const exchanges = { file: join(folder, 'none', 'x.zst') };
  const lane = await gateway.open({ owner: 'a', mode: playing({ text: 'Yes.' }), exchanges });
  for (const input of ['one', 'two']) {
    expect(await postJson(lane, '/v1/responses', { model: 'm', input })).toMatchObject({ status: 200 });
  }
  await expect(lane.close()).rejects.toMatchObject({ code: 'exchanges-unwritable', where: exchanges.file });
});

test('two sessions with the same request have the same readable request', async () => {
  const [first, second] = ['2026-01-02', '2026-03-04'].map((date, index) =>
    JSON.stringify({
      model: 'm',
      metadata: { session: index },
      instructions: `Today is ${date}. Work in /home/user${index}/.codex.`,
      input: 'Go.',
    }),
  );
  const readable = (request = '') =>
    describeExchange({ wire: 'openai-responses', request, reply: null }, 'codex').request;
  expect(readable(first)).toEqual(readable(second));
  expect(readable(first)).toMatchObject({ system: ['Today is <date>. Work in <home>/.codex.'] });
});
