import type { JsonObject } from '@whetstone/events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postJson } from '../__fixtures__/clients.ts';
import { keyInFile, type Provider, sendJson, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane, type LaneOptions, wireProtocols } from '../index.ts';
import { allowsTool, stripProviderTools } from './provider-tools.ts';

const shell = { type: 'function', name: 'shell', parameters: {}, strict: true };
const webSearch = { type: 'web_search_preview', search_context_size: 'low' };
const bash = { type: 'bash_20250124', name: 'bash' };
const own = { name: 'Read', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } };
const claudeSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 };
const declared = { functionDeclarations: [{ name: 'read_file' }] };

/** A request, what is left of it, and what was removed. Unknown fields stay too. */
type Example = [path: string, request: JsonObject, left: JsonObject, stripped: string[]];

const chat = '/v1/chat/completions';
const gemini = '/v1beta/models/m:generateContent';
const examples: Example[] = [
  [
    '/v1/responses',
    {
      model: 'm',
      tools: [shell, webSearch],
      tool_choice: 'auto',
      include: ['x'],
      new_field: { a: [1, null] },
    },
    { model: 'm', tools: [shell], tool_choice: 'auto', include: ['x'], new_field: { a: [1, null] } },
    ['web_search_preview'],
  ],
  [
    '/v1/responses',
    {
      tools: [
        { type: 'web_search_2025_08_26' },
        { type: 'file_search', vector_store_ids: ['v'] },
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'image_generation' },
        { type: 'mcp', server_label: 'a', server_url: 'https://a.example' },
        { type: 'shell', environment: { type: 'container_auto' } },
      ],
      tool_choice: 'required',
      parallel_tool_calls: true,
      input: 'go',
    },
    { input: 'go' },
    ['web_search_2025_08_26', 'file_search', 'code_interpreter', 'image_generation', 'mcp', 'shell'],
  ],
  ...[{ type: 'web_search_preview' }, { type: 'mcp', server_label: 'a' }].map(
    (choice): Example => [
      '/v1/responses',
      { tools: [shell, webSearch, { type: 'mcp', server_label: 'a' }], tool_choice: choice },
      { tools: [shell] },
      ['web_search_preview', 'mcp'],
    ],
  ),
  [
    '/v1/responses',
    {
      tools: [shell, webSearch],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'function', name: 'shell' }, webSearch],
      },
    },
    {
      tools: [shell],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'shell' }] },
    },
    ['web_search_preview'],
  ],
  [
    '/v1/responses',
    {
      tools: [shell, webSearch],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [webSearch] },
    },
    { tools: [shell], tool_choice: 'none' },
    ['web_search_preview'],
  ],
  [
    '/v1/responses',
    {
      input: [
        { type: 'additional_tools', tools: [shell, webSearch] },
        { role: 'user', content: 'go' },
      ],
    },
    {
      input: [
        { type: 'additional_tools', tools: [shell] },
        { role: 'user', content: 'go' },
      ],
    },
    ['web_search_preview'],
  ],
  [
    chat,
    { messages: [], web_search_options: {}, tools: [{ type: 'function', function: { name: 'shell' } }] },
    { messages: [], tools: [{ type: 'function', function: { name: 'shell' } }] },
    ['web_search_options'],
  ],
  [
    '/v1/messages',
    { tools: [own, claudeSearch, bash], tool_choice: { type: 'any' }, max_tokens: 5 },
    { tools: [own, bash], tool_choice: { type: 'any' }, max_tokens: 5 },
    ['web_search_20250305'],
  ],
  [
    '/v1/messages',
    { tools: [own, claudeSearch], tool_choice: { type: 'tool', name: 'web_search' } },
    { tools: [own] },
    ['web_search_20250305'],
  ],
  [
    '/v1/messages',
    { tools: [own, claudeSearch], tool_choice: { type: 'tool', name: 'Read' } },
    { tools: [own], tool_choice: { type: 'tool', name: 'Read' } },
    ['web_search_20250305'],
  ],
  [
    '/v1/messages',
    {
      tools: [
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'mcp_toolset', mcp_server_name: 'a' },
      ],
      tool_choice: { type: 'tool', name: 'web_fetch' },
      mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }],
    },
    {},
    ['mcp_servers', 'web_fetch_20250910', 'code_execution_20250825', 'mcp_toolset'],
  ],
  [
    '/v1/messages/count_tokens',
    { messages: [], tools: [own, claudeSearch] },
    { messages: [], tools: [own] },
    ['web_search_20250305'],
  ],
  [
    gemini,
    { tools: [{ googleSearch: {}, ...declared }, { urlContext: {} }, { codeExecution: {} }], contents: [] },
    { tools: [declared], contents: [] },
    ['googleSearch', 'urlContext', 'codeExecution'],
  ],
  [gemini, { tools: [{ google_search: {} }] }, {}, ['google_search']],
  [
    '/v1beta/models/m:countTokens',
    { generateContentRequest: { model: 'm', tools: [{ googleSearch: {} }, declared] } },
    { generateContentRequest: { model: 'm', tools: [declared] } },
    ['googleSearch'],
  ],
];

/** Requests with nothing to remove, and with bytes that our serialiser would not write. */
const untouched: [path: string, body: string][] = [
  [
    '/v1/responses',
    '{ "tools":[ {"type":"function","name":"web_search"},{"type":"custom","name":"mcp"} ] ,"n":1.0}',
  ],
  [
    '/v1/responses',
    '{"tools":[{"type":"shell","environment":{"type":"local"}}, {"type":"computer_use_preview"}]}',
  ],
  ['/v1/responses', '{"tools":[{"type":"local_shell"}, {"type":"apply_patch"}, {"type":"tool_search"}]}'],
  [chat, '{"messages":[], "web_search_options": null}'],
  [
    '/v1/messages',
    '{"tools":[{"name":"web_search","input_schema":{}}, {"type":"custom","name":"code_execution"}]}',
  ],
  [
    '/v1/messages',
    '{"tools": [{"type":"bash_20250124","name":"bash"},{"type":"memory_20250818","name":"memory"}]}',
  ],
  [gemini, '{"tools":[{"functionDeclarations":[{"name":"googleSearch"}]}, {"computerUse":{}} ]}'],
];

let gateway: Gateway;
let provider: Provider;
beforeAll(async () => {
  gateway = await createGateway();
  provider = await startProvider((response) => sendJson(response, 200, {}));
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const openLane = (options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(provider.url, keyInFile('key')) },
    ...options,
  });

const sentUpstream = (): string => provider.requests.at(-1)?.body ?? '';

describe("a provider's tools", () => {
  test.each(examples)('are removed from %s: %j', async (path, request, left, stripped) => {
    await using lane = await openLane();
    await postJson(lane, path, request);
    expect(JSON.parse(sentUpstream())).toEqual(left);
    expect(lane.ledger[0]?.stripped_tools).toEqual(stripped);
  });

  test.each(untouched)('leave %s byte for byte unchanged when it has none: %s', async (path, body) => {
    await using lane = await openLane();
    await fetch(`${lane.baseUrl}${path}`, { method: 'POST', headers: { 'x-api-key': lane.key }, body });
    expect(sentUpstream()).toBe(body);
    expect(lane.ledger[0]?.stripped_tools).toEqual([]);
  });

  test.each(examples)('stay in %s when all are allowed', async (path, request) => {
    await using lane = await openLane({ allowProviderTools: true });
    await postJson(lane, path, request);
    expect(sentUpstream()).toBe(JSON.stringify(request));
    expect(lane.ledger[0]?.stripped_tools).toEqual([]);
  });

  test('stay when a lane allows them by name, in each of their versions', async () => {
    await using lane = await openLane({ allowProviderTools: ['web_search', 'mcp', 'googleSearch'] });
    await postJson(lane, '/v1/messages', {
      tools: [claudeSearch, { type: 'code_execution_20250825' }, { type: 'mcp_toolset' }],
      mcp_servers: [],
    });
    expect(JSON.parse(sentUpstream())).toEqual({
      tools: [claudeSearch, { type: 'mcp_toolset' }],
      mcp_servers: [],
    });
    await postJson(lane, '/v1/responses', { tools: [webSearch, { type: 'file_search' }] });
    expect(JSON.parse(sentUpstream())).toEqual({ tools: [webSearch] });
    await postJson(lane, gemini, { tools: [{ googleSearch: {} }, { googleSearchRetrieval: {} }] });
    expect(JSON.parse(sentUpstream())).toEqual({ tools: [{ googleSearch: {} }] });
    expect(lane.ledger.map((line) => line.stripped_tools)).toEqual([
      ['code_execution_20250825'],
      ['file_search'],
      ['googleSearchRetrieval'],
    ]);
  });

  test('have names of any length, and the ledger keeps their beginning', async () => {
    await using lane = await openLane();
    await postJson(lane, '/v1/responses', { tools: [{ type: `web_search_${'x'.repeat(5000)}` }] });
    expect(JSON.parse(sentUpstream())).toEqual({});
    expect(lane.ledger[0]?.stripped_tools).toEqual([`web_search_${'x'.repeat(89)}…`]);
  });

  test('are removed from a chat when the gateway asks for its usage', async () => {
    await using lane = await openLane();
    await postJson(lane, chat, { stream: true, web_search_options: {}, messages: [] });
    expect(JSON.parse(sentUpstream())).toEqual({
      stream: true,
      messages: [],
      stream_options: { include_usage: true },
    });
  });

  test('cannot be called by a script, and are in the ledger as offered', async () => {
    await using lane = await openLane({
      mode: { kind: 'script', script: { name: 's', play: () => ({ text: 'ok' }) } },
    });
    await postJson(lane, '/v1/messages', {
      model: 'm',
      messages: [{ role: 'user', content: 'go' }],
      tools: [own, claudeSearch],
      mcp_servers: [{ name: 'a' }],
    });
    await postJson(lane, chat, { messages: [{ role: 'user', content: 'go' }], web_search_options: {} });
    expect(lane.ledger).toMatchObject([
      { status: 200, tools_offered: ['Read', 'web_search', 'mcp_servers'], stripped_tools: [] },
      { status: 200, tools_offered: ['web_search_options'], stripped_tools: [] },
    ]);
  });
});

test.each(wireProtocols)('%s: removing tools twice is the same as once, for any request', (wire) => {
  const name = fc.constantFrom(
    'web_search',
    'mcp',
    'function',
    'bash_20250124',
    'googleSearch',
    'code_execution',
    'x',
  );
  const tool = fc.dictionary(
    fc.constantFrom('type', 'name', 'googleSearch', 'functionDeclarations', 'environment'),
    fc.oneof(name, fc.jsonValue()),
  );
  const request = fc.record(
    {
      tools: fc.oneof(fc.array(tool, { maxLength: 5 }), fc.jsonValue()),
      tool_choice: fc.oneof(tool, fc.jsonValue()),
      mcp_servers: fc.jsonValue(),
      input: fc.oneof(
        fc.array(fc.record({ type: fc.constant('additional_tools'), tools: fc.array(tool) })),
        fc.jsonValue(),
      ),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(request, (generated) => {
      const raw = structuredClone(generated) as JsonObject;
      const first = stripProviderTools(wire, raw, allowsTool([]));
      expect(raw).toEqual(generated);
      expect(first.raw.other).toEqual(raw.other);
      if (first.stripped.length === 0) expect(first.raw).toBe(raw);
      expect(stripProviderTools(wire, first.raw, allowsTool([]))).toEqual({ raw: first.raw, stripped: [] });
      expect(stripProviderTools(wire, raw, allowsTool(true))).toEqual({ raw, stripped: [] });
    }),
    { numRuns: 50 },
  );
});
