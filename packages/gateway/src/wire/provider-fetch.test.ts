import type { JsonObject } from '@whetstone/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postJson } from '../__fixtures__/clients.ts';
import { keyInFile, type Provider, sendJson, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type WireProtocol } from '../index.ts';
import { allowsTool, stripProviderTools } from './provider-tools.ts';

const out = 'https://out.example/?q=secret';
const data = 'data:image/png;base64,iVBORw0KGgo=';
const gone =
  '[The gateway removed an address here, which the provider would have fetched. Send the data itself instead.]';
const before = { type: 'text', text: `see ${out}` };

const responses = (...content: JsonObject[]) => ({ model: 'm', input: [{ role: 'user', content }] });
const result = (...output: JsonObject[]) => ({
  input: [{ type: 'function_call_output', call_id: 'c', output }],
});
const chat = (...content: JsonObject[]) => ({ model: 'm', messages: [{ role: 'user', content }] });
const claude = (...content: JsonObject[]) => ({ messages: [{ role: 'user', content }] });
const gemini = (...parts: JsonObject[]) => ({ contents: [{ role: 'user', parts }] });

/** A part of a conversation, where it stands in a request, the text that it becomes, and the name that is kept of it. */
type Example = [
  wire: WireProtocol,
  part: JsonObject,
  request: (part: JsonObject) => JsonObject,
  text: JsonObject,
  name: string,
];

const inputText = { type: 'input_text', text: gone };
const text = { type: 'text', text: gone };
const examples: Example[] = [
  ['openai-responses', { type: 'input_image', image_url: out }, responses, inputText, 'image_url'],
  ['openai-responses', { type: 'input_file', file_url: out }, responses, inputText, 'file_url'],
  ['openai-responses', { type: 'input_image', image_url: out }, result, inputText, 'image_url'],
  [
    'openai-responses',
    { type: 'computer_screenshot', image_url: out },
    (output) => ({ input: [{ type: 'computer_call_output', output }] }),
    inputText,
    'image_url',
  ],
  [
    'openai-responses',
    { type: 'input_file', file_url: out },
    (part) => ({ prompt: { id: 'p', variables: { x: part, y: 'z' } } }),
    inputText,
    'file_url',
  ],
  [
    'openai-chat-completions',
    { type: 'image_url', image_url: { url: out, detail: 'low' } },
    chat,
    text,
    'image_url',
  ],
  ['openai-chat-completions', { type: 'image_url', image_url: out }, chat, text, 'image_url'],
  ['openai-chat-completions', { type: 'video_url', video_url: { url: out } }, chat, text, 'video_url'],
  ['openai-chat-completions', { type: 'file', file: { file_data: out } }, chat, text, 'file_data'],
  [
    'openai-chat-completions',
    { type: 'input_audio', input_audio: { data: out, format: 'wav' } },
    (part) => ({ messages: [{ role: 'tool', tool_call_id: 'c', content: [part] }] }),
    text,
    'data',
  ],
  ['anthropic-messages', { type: 'image', source: { type: 'url', url: out } }, claude, text, 'url'],
  [
    'anthropic-messages',
    { type: 'document', source: { type: 'url', url: out } },
    (part) => claude({ type: 'tool_result', tool_use_id: 't', content: [part] }),
    text,
    'url',
  ],
  [
    'anthropic-messages',
    { type: 'image', source: { type: 'url', url: out } },
    (part) => claude({ type: 'document', source: { type: 'content', content: [part] } }),
    text,
    'url',
  ],
  ['gemini-generate-content', { fileData: { fileUri: out } }, gemini, { text: gone }, 'fileUri'],
  ['gemini-generate-content', { file_data: { file_uri: out } }, gemini, { text: gone }, 'file_uri'],
  [
    'gemini-generate-content',
    { fileData: { fileUri: 'gs://bucket/x' } },
    (part) => gemini({ functionResponse: { name: 'f', response: {}, parts: [part] } }),
    { text: gone },
    'fileUri',
  ],
  [
    'gemini-generate-content',
    { fileData: { fileUri: out } },
    (part) => ({ generateContentRequest: { systemInstruction: { parts: [part] } } }),
    { text: gone },
    'fileUri',
  ],
];

/** Nobody fetches these: data, texts, inputs of tools, and what the provider has found before. */
const untouched: [WireProtocol, JsonObject][] = [
  [
    'openai-responses',
    responses({ type: 'input_image', image_url: data }, { type: 'input_text', text: out }),
  ],
  ['openai-responses', responses({ type: 'input_file', file_data: 'JVBERi0=', filename: 'https://a' })],
  [
    'openai-responses',
    { input: [{ type: 'web_search_call', action: { type: 'open_page', url: out } }, { output: out }] },
  ],
  [
    'openai-responses',
    responses({ type: 'output_text', text: '', annotations: [{ type: 'url_citation', url: out }] }),
  ],
  ['openai-chat-completions', chat({ type: 'image_url', image_url: { url: data } }, before)],
  ['openai-chat-completions', { messages: [{ role: 'user', content: out }] }],
  ['anthropic-messages', claude(before, { type: 'image', source: { type: 'base64', data: 'iVBO' } })],
  [
    'anthropic-messages',
    claude({ type: 'tool_use', input: { source: { url: out }, content: [{ source: out }] } }),
  ],
  [
    'anthropic-messages',
    claude({ type: 'web_search_tool_result', content: [{ type: 'web_search_result', url: out }] }),
  ],
  ['gemini-generate-content', gemini({ text: out }, { inlineData: { data: 'iVBO' } })],
  ['gemini-generate-content', gemini({ functionCall: { args: { fileData: { fileUri: out } } } })],
];

describe('an address that a provider would fetch', () => {
  test.each(examples)('%s: %j becomes a text', (wire, part, request, replaced, name) => {
    const asked = request(part);
    const original = structuredClone(asked);
    expect(stripProviderTools(wire, asked, allowsTool([]))).toEqual({
      raw: request(replaced),
      stripped: [name],
    });
    expect(asked).toEqual(original);
    for (const allowed of [true, [name]] as const) {
      expect(stripProviderTools(wire, asked, allowsTool(allowed))).toEqual({ raw: asked, stripped: [] });
    }
  });

  test.each(untouched)('%s: %j stays as it is', (wire, request) => {
    expect(stripProviderTools(wire, request, allowsTool([])).raw).toBe(request);
  });
});

describe('a lane', () => {
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

  test.each([
    ['/v1/responses', responses({ type: 'input_image', image_url: out }), 'image_url'],
    ['/v1/responses/input_tokens', responses({ type: 'input_image', image_url: out }), 'image_url'],
    ['/v1/chat/completions', chat({ type: 'image_url', image_url: { url: out } }), 'image_url'],
    ['/v1/messages/count_tokens', claude({ type: 'image', source: { type: 'url', url: out } }), 'url'],
    ['/v1beta/models/m:generateContent', gemini({ fileData: { fileUri: out } }), 'fileUri'],
  ])('keeps addresses from the provider of %s, and says so', async (path, request, name) => {
    const upstreams = upstreamsAt(provider.url, keyInFile('key'));
    await using lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams } });
    await postJson(lane, path, request);
    expect(provider.requests.at(-1)?.body).toContain(gone);
    expect(provider.requests.at(-1)?.body).not.toContain('out.example');
    expect(lane.ledger[0]).toMatchObject({ status: 200, stripped_tools: [name] });
  });
});
