import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  clientOf,
  generate,
  postJson,
  shellTool,
  stream,
  userPrompt,
} from '../__fixtures__/clients.ts';
import { keyInFile, sendJson, sse, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import {
  createGateway,
  type Gateway,
  type Lane,
  type ReplayOptions,
  scriptFromSteps,
  type Upstreams,
  type WireProtocol,
  wireProtocols,
} from '../index.ts';

let gateway: Gateway;
let folder: string;
let cassette: string;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-cassette-'));
  cassette = join(folder, 'tape.jsonl');
  return () => rm(folder, { recursive: true });
});

const realKey = keyInFile('real-key');
const record = (upstreams: Upstreams): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: { kind: 'record', upstreams, cassette } });
const replay = (options: Partial<ReplayOptions> = {}, file = cassette): Promise<Lane> =>
  gateway.open({
    owner: 'b',
    mode: { kind: 'replay', cassette: file, ...options } as { kind: 'replay' } & ReplayOptions,
  });

const usage = { input_tokens: 9, output_tokens: 4 };
const said = (text: string) => ({ type: 'message', model: 'm-1', content: [{ type: 'text', text }], usage });
const request = (...texts: string[]) => ({
  model: 'm',
  messages: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
});

/** Records a provider's answer to each request: `answer 1`, `answer 2`, … */
async function recordAnswers(...requests: unknown[]): Promise<void> {
  let answers = 0;
  await using provider = await startProvider((response) => {
    answers += 1;
    sendJson(response, 200, said(`answer ${answers}`));
  });
  await using lane = await record(upstreamsAt(provider.url, realKey));
  for (const each of requests) await postJson(lane, '/v1/messages', each);
}

const answerTo = async (lane: Lane, body: unknown): Promise<unknown> => {
  const answer = await postJson(lane, '/v1/messages', body);
  return answer.status === 200 ? answer.body : [answer.status, answer.body];
};

describe.each(wireProtocols)('%s: a recorded conversation', (wire: WireProtocol) => {
  test('replays without a provider, streamed and whole, and gives the same answers twice', async () => {
    const options = { prompt: userPrompt('Work in the directory: /work/one'), tools: [shellTool] };
    const converse = async (lane: Lane) => [
      await stream(clientOf(wire, lane), options),
      await generate(clientOf(wire, lane), options),
    ];
    const script = scriptFromSteps('s', [
      { thinking: 'Hm.', text: 'é😀 '.repeat(60), calls: [{ tool: 'shell', command: 'ls' }] },
    ]);
    let recorded: unknown;
    {
      await using upstream = await createGateway();
      await using provider = await upstream.open({ owner: 'p', mode: { kind: 'script', script } });
      await using lane = await record(upstreamsAt(provider.baseUrl, keyInFile(provider.key)));
      recorded = await converse(lane);
      expect(lane.ledger.map((line) => line.flags)).toEqual([[], []]);
    }
    for (let time = 0; time < 2; time++) {
      await using lane = await replay();
      expect(await converse(lane)).toEqual(recorded);
      expect(lane.ledger).toMatchObject([
        { flags: ['replayed'], usage: expect.any(Object), finish: 'tool-calls', tools_called: ['shell'] },
        { flags: ['replayed'], finish: 'tool-calls' },
      ]);
    }
  });
});

describe.each(wireProtocols)("%s: paths in the model's answers", (wire: WireProtocol) => {
  test('are those of the replaying session, also where a stream cuts them up', async () => {
    const options = (directory: string) => ({
      prompt: userPrompt(`You work in the directory: ${directory}`),
      tools: [shellTool],
    });
    const path = (directory: string) => `${directory}/${'deep/'.repeat(12)}a.ts`;
    const [first, second] = ['/tmp/run-0001/with-a-rather-long-name/workspace', '/srv/b'];
    const play = () => ({
      thinking: `${'.'.repeat(40)}${path(first)}`,
      text: `In ${path(first)} and not in ${first}-2.`,
      calls: [{ tool: 'shell' as const, command: `echo "é"; cat ${path(first)}` }],
    });
    {
      await using upstream = await createGateway();
      await using provider = await upstream.open({
        owner: 'p',
        mode: { kind: 'script', script: { name: 's', play } },
      });
      await using lane = await record(upstreamsAt(provider.baseUrl, keyInFile(provider.key)));
      for (const receive of [stream, generate]) await receive(clientOf(wire, lane), options(first));
    }
    expect(await readFile(cassette, 'utf8')).not.toContain(`${first}/`);
    await using lane = await replay();
    for (const receive of [stream, generate]) {
      const received = await receive(clientOf(wire, lane), options(second));
      expect(received.text).toBe(`In ${path(second)} and not in ${first}-2.`);
      expect(received.calls.map((each) => JSON.parse(each.input))).toEqual([
        { command: `echo "é"; cat ${path(second)}` },
      ]);
    }
  });
});

test.each(['You work in the directory: ', '- **Workspace Directories:**\n  - '])(
  'a workspace in another place finds its answers, also where a folder is named after it: %j',
  async (intro) => {
    const notes = (directory: string): string => `~/projects/${directory.replaceAll(/\W/g, '-')}/memory`;
    const asked = (directory: string) => request(`${intro}${directory}\nNotes are in ${notes(directory)}.`);
    await using provider = await startProvider((response) =>
      sendJson(response, 200, said(`See ${notes('/tmp/run-1/w.1')}/a.md`)),
    );
    {
      await using lane = await record(upstreamsAt(provider.url, realKey));
      await answerTo(lane, asked('/tmp/run-1/w.1'));
    }
    await using lane = await replay();
    expect(await answerTo(lane, asked('/srv/b'))).toEqual(said(`See ${notes('/srv/b')}/a.md`));
  },
);

describe('a cassette', () => {
  test('is JSON Lines without a key and without a secret that the agent has seen', async () => {
    const secrets = [
      'ghp_0123456789abcdefghijABCDEFGHIJ012345',
      'AKIAIOSFODNN7EXAMPLE',
      ['sk', 'proj', '0123456789abcdefghijkl'].join('-'),
    ];
    await recordAnswers(request(`env says ${secrets.join(' ')} and é`));
    const text = await readFile(cassette, 'utf8');
    expect(text.endsWith('}\n')).toBe(true);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/sk-whetstone-\w/);
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      wire: 'anthropic-messages',
      main: false,
      turn: 0,
      request: { messages: [{ content: 'env says <secret> <secret> <secret> and é' }] },
      response: { status: 200, chunks: [[expect.any(Number), JSON.stringify(said('answer 1'))]] },
    });
  });

  test('can be compressed', async () => {
    await recordAnswers(request('go'));
    const compressed = join(folder, 'tape.jsonl.zst');
    await writeFile(compressed, zstdCompressSync(await readFile(cassette)));
    await using lane = await replay({}, compressed);
    expect(await answerTo(lane, request('go'))).toEqual(said('answer 1'));
  });

  test('is never overwritten, and the error for a broken one names the line', async () => {
    await recordAnswers(request('go'));
    await expect(record({})).rejects.toMatchObject({
      code: 'cassette-unwritable',
      message: expect.stringContaining('Delete it'),
    });
    const good = await readFile(cassette, 'utf8');
    for (const [second, reason] of [
      ['{"version":', 'JSON'],
      ['{"version":2}', 'version'],
      [good.replace(/"rules":\d+/, '"rules":0'), 'Record it again'],
    ] as const) {
      await writeFile(cassette, good + second);
      await expect(replay()).rejects.toMatchObject({
        code: 'cassette-unreadable',
        where: expect.stringMatching(/tape\.jsonl:2$/),
        message: expect.stringContaining(reason),
      });
    }
    await expect(replay({}, join(folder, 'none'))).rejects.toMatchObject({ code: 'cassette-unreadable' });
  });

  test('does not keep an answer that was cut off', async () => {
    await using provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse({ type: 'ping' }), () => response.socket?.resetAndDestroy());
    });
    await using lane = await record(upstreamsAt(provider.url, realKey));
    await expect(
      call(lane, '/v1/messages', { method: 'POST', body: JSON.stringify(request('go')) }),
    ).rejects.toThrow();
    await lane.close();
    expect(lane.ledger[0]?.flags).toContain('unrecorded');
    expect(await readFile(cassette, 'utf8')).toBe('');
  });

  test('also keeps errors and auxiliary calls, and repeated requests in their order', async () => {
    let calls = 0;
    {
      await using provider = await startProvider((response, { method }) => {
        if (method === 'GET') return sendJson(response, 200, { data: [] });
        calls += 1;
        if (calls === 1) return sendJson(response, 529, { error: {} }, { 'retry-after': '1' });
        sendJson(response, 200, said(`answer ${calls}`));
      });
      await using lane = await record(upstreamsAt(provider.url, realKey));
      await call(lane, '/v1/models', { headers: { 'anthropic-version': '1' } });
      for (let time = 0; time < 3; time++) await answerTo(lane, request('go'));
    }
    await using lane = await replay();
    expect((await call(lane, '/v1/models', { headers: { 'anthropic-version': '1' } })).body).toEqual({
      data: [],
    });
    const overloaded = await postJson(lane, '/v1/messages', request('go'));
    expect([overloaded.status, overloaded.headers.get('retry-after')]).toEqual([529, '1']);
    expect(await answerTo(lane, request('go'))).toEqual(said('answer 2'));
    expect(await answerTo(lane, request('go'))).toEqual(said('answer 3'));
    expect(await answerTo(lane, request('go'))).toEqual(said('answer 3'));
  });
});

describe('the same request', () => {
  const codex = (run: { directory: string; home: string; id: string; date: string; wall: string }) => ({
    model: 'm',
    prompt_cache_key: run.id,
    client_metadata: { session: run.id },
    input: [
      {
        type: 'message',
        role: 'user',
        id: `msg_${run.id}`,
        content: `<cwd>${run.directory}</cwd> at ${run.date}, skills in ${run.home}/.codex/skills`,
      },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: `Chunk ID: ${run.id.slice(0, 6)}\nWall time: ${run.wall} seconds\n${run.directory}/a.ts`,
      },
    ],
  });
  const first = {
    directory: '/tmp/a1/work',
    home: '/tmp/a1/home',
    id: '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
    date: '2026-11-21',
    wall: '0.1',
  };
  const second = {
    directory: '/srv/b/w',
    home: '/srv/b/h',
    id: '9c5b94b1-35ad-49bb-b118-8e8fc24abf80',
    date: '2027-01-02',
    wall: '12.75',
  };
  const post = (lane: Lane, body: unknown) =>
    call(lane, '/v1/responses', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'user-agent': 'codex_exec/0.169.0' },
    });

  test('finds its answer from another directory, home, day, session and duration; another prompt does not', async () => {
    {
      await using provider = await startProvider((response) =>
        sendJson(response, 200, { object: 'response', model: 'm-1', status: 'completed', output: [] }),
      );
      await using lane = await gateway.open({
        owner: 'a',
        mode: {
          kind: 'record',
          cassette,
          upstreams: upstreamsAt(provider.url, realKey),
          names: { [first.home]: '<home>' },
        },
      });
      await post(lane, codex(first));
    }
    await using lane = await replay({ names: { [second.home]: '<home>' } });
    expect((await post(lane, codex(second))).status).toBe(200);
    expect((await post(lane, codex({ ...second, wall: '1.0 to 2.0' }))).status).toBe(400);
  });
});

describe('a request that was not recorded gets', () => {
  beforeEach(() => recordAnswers(request('go'), request('go', 'answer 1', 'and on')));

  test('with strict, an error that its agent does not retry and that shows the first difference', async () => {
    await using lane = await replay();
    expect(await answerTo(lane, request('go', 'answer 1', 'and stop'))).toEqual([
      403,
      {
        type: 'error',
        error: {
          type: 'permission_error',
          message:
            'The cassette has no answer to POST /v1/messages (after 1 replies). First difference: ' +
            'request.messages[2].content, character 4: recorded …"and on"…, now …"and stop"…',
        },
      },
    ]);
    expect(lane.ledger).toMatchObject([
      { status: 403, error: expect.stringContaining('First difference'), usage: null },
    ]);
    const other = await postJson(lane, '/v1/responses', { model: 'm', input: 'go' });
    expect(other.body).toMatchObject({
      error: { message: expect.stringContaining('no such request among its 2') },
    });
    const more = await answerTo(lane, { ...request('go'), max_tokens: 5 });
    expect(JSON.stringify(more)).toContain('request.max_tokens: not recorded, now 5');
  });

  test('with lenient, the answer of the nearest turn', async () => {
    await using lane = await replay({ miss: 'lenient' });
    expect(await answerTo(lane, request('hello', 'x', 'y'))).toEqual(said('answer 2'));
    expect(await answerTo(lane, request('hello'))).toEqual(said('answer 1'));
    expect(lane.ledger.map((line) => line.flags)).toEqual([
      ['replayed', 'nearest'],
      ['replayed', 'nearest'],
    ]);
    expect((await postJson(lane, '/v1/responses', { model: 'm', input: 'go' })).status).toBe(400);
  });

  test('with fork, a live answer, and so does every request after it', async () => {
    await using provider = await startProvider((response) => sendJson(response, 200, said('live')));
    await using lane = await replay({ miss: 'fork', upstreams: upstreamsAt(provider.url, realKey) });
    const bodies = [request('go'), request('else'), request('go', 'answer 1', 'and on')];
    const answers = [];
    for (const body of bodies) answers.push(await answerTo(lane, body));
    expect(answers).toEqual([said('answer 1'), said('live'), said('live')]);
    expect(lane.ledger.map((line) => line.flags)).toEqual([['replayed'], ['forked'], ['forked']]);
    expect(lane.ledger[1]?.usage).toEqual({ inputTokens: 9, outputTokens: 4 });
  });
});

test('with timing kept, a replay pauses as the provider did', async () => {
  {
    await using provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse({ type: 'ping', n: 1 }));
      setTimeout(() => response.end(sse({ type: 'ping', n: 2 })), 120);
    });
    await using lane = await record(upstreamsAt(provider.url, realKey));
    await (
      await fetch(`${lane.baseUrl}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': lane.key },
        body: '{}',
      })
    ).text();
  }
  await using lane = await replay({ timing: 'kept' });
  await using fast = await replay();
  for (const each of [lane, fast]) {
    const response = await fetch(`${each.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': each.key },
      body: '{}',
    });
    expect(await response.text()).toBe(sse({ type: 'ping', n: 1 }, { type: 'ping', n: 2 }));
  }
  expect(lane.ledger[0]?.total_ms).toBeGreaterThanOrEqual(100);
});
