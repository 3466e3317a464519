import { APICallError, type LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { clientOf, generate, shellTool, stream, userPrompt, ways } from '../__fixtures__/clients.ts';
import { createGateway, type Gateway, type Lane, type ScriptStep, type WireProtocol } from '../index.ts';

/** What the released client of a wire can read of a reply. */
const protocols: { wire: WireProtocol; readsThinking: boolean; readsCacheWrites: boolean }[] = [
  { wire: 'openai-responses', readsThinking: true, readsCacheWrites: true },
  // OpenAI's own chat has no reasoning text; other providers of that wire have it.
  { wire: 'openai-chat-completions', readsThinking: false, readsCacheWrites: true },
  { wire: 'anthropic-messages', readsThinking: true, readsCacheWrites: true },
  { wire: 'gemini-generate-content', readsThinking: true, readsCacheWrites: false },
];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const laneFor = (step: ScriptStep): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: { kind: 'script', script: { name: 'one step', play: () => step } } });

describe.each(protocols)('$wire, read by a released client', ({ wire, readsThinking, readsCacheWrites }) => {
  describe.each(ways)('%s', (_way, receive) => {
    test('a final text arrives', async () => {
      await using lane = await laneFor({ text: 'All tests pass.' });
      const received = await receive(clientOf(wire, lane), { prompt: userPrompt('go') });
      expect(received).toMatchObject({
        text: 'All tests pass.',
        thinking: '',
        calls: [],
        finish: 'stop',
      });
    });

    test('thinking, text and several tool calls arrive', async () => {
      await using lane = await laneFor({
        thinking: 'First look around.',
        text: 'Looking.',
        calls: [
          { tool: 'shell', command: 'ls -la' },
          { tool: 'shell', command: `echo "it's" \\n` },
        ],
      });
      const received = await receive(clientOf(wire, lane), {
        prompt: userPrompt('go'),
        tools: [shellTool],
      });
      expect(received).toMatchObject({
        text: 'Looking.',
        thinking: readsThinking ? 'First look around.' : '',
        finish: 'tool-calls',
      });
      expect(received.calls.map(({ name, input }) => [name, JSON.parse(input)])).toEqual([
        ['shell', { command: 'ls -la' }],
        ['shell', { command: `echo "it's" \\n` }],
      ]);
    });

    test('every usage bucket has each token once', async () => {
      const usage = {
        inputTokens: 100,
        cacheReadTokens: 20,
        ...(readsCacheWrites ? { cacheWriteTokens: 3 } : {}),
        outputTokens: 50,
        reasoningTokens: 40,
      };
      await using lane = await laneFor({ text: 'ok', usage });
      const received = await receive(clientOf(wire, lane), { prompt: userPrompt('go') });
      expect(received.usage.inputTokens).toEqual({
        total: readsCacheWrites ? 123 : 120,
        noCache: 100,
        cacheRead: 20,
        cacheWrite: readsCacheWrites ? 3 : undefined,
      });
      expect(received.usage.outputTokens).toMatchObject({ total: 50, reasoning: 40 });
      expect(lane.ledger[0]?.usage).toEqual(usage);
    });

    test('an error arrives with its message, and the client does not retry', async () => {
      await using lane = await laneFor({ calls: [{ tool: 'shell', command: 'ls' }] });
      const received = receive(clientOf(wire, lane), { prompt: userPrompt('go') });
      const error = await received.catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([400, false]);
      expect(error).toHaveProperty('message', expect.stringContaining('no offered tool can do "shell"'));
    });
  });

  test('any text and thinking arrives unchanged, streamed and whole', async () => {
    let step: ScriptStep = {};
    await using lane = await gateway.open({
      owner: 'a',
      mode: { kind: 'script', script: { name: 'any', play: () => step } },
    });
    const model = clientOf(wire, lane);
    const said = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(said, said, said, async (text, thinking, command) => {
        step = { text, thinking, calls: [{ tool: 'shell', command }] };
        const options = { prompt: userPrompt('go'), tools: [shellTool] };
        const streamed = await stream(model, options);
        expect(streamed).toMatchObject({ text, thinking: readsThinking ? thinking : '' });
        expect(JSON.parse(streamed.calls[0]?.input ?? '')).toEqual({ command });
        expect(await generate(model, options)).toEqual(streamed);
      }),
      { numRuns: 10 },
    );
  });
});

const applyPatchTool: LanguageModelV4ProviderTool = {
  type: 'provider',
  id: 'openai.custom',
  name: 'apply_patch',
  args: { description: 'Edits files.', format: { type: 'text' } },
};

test.each(ways)('a freeform tool of OpenAI is called with plain text, %s', async (_way, receive) => {
  await using lane = await laneFor({ calls: [{ tool: 'write', path: 'a.txt', content: 'é "quoted"\n' }] });
  const received = await receive(clientOf('openai-responses', lane), {
    prompt: userPrompt('go'),
    tools: [applyPatchTool],
  });
  // This client gives the text of a freeform call as a JSON string.
  expect(received.calls.map(({ name, input }) => [name, JSON.parse(input)])).toEqual([
    ['apply_patch', '*** Begin Patch\n*** Add File: a.txt\n+é "quoted"\n*** End Patch\n'],
  ]);
});

test('server-sent events have whole code points, so that a strict JSON reader accepts each of them', async () => {
  const text = '😀'.repeat(500);
  await using lane = await laneFor({ text });
  const response = await fetch(`${lane.baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lane.key}` },
    body: JSON.stringify({ model: 'm', input: 'go', stream: true }),
  });
  const events = (await response.text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  const deltas = events.flatMap((event) =>
    event.type === 'response.output_text.delta' ? [String(event.delta)] : [],
  );
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  expect(deltas.join('')).toBe(text);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
});
