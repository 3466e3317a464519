import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import { present } from '@whetstone/events/present';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, serve } from '../__fixtures__/served-lanes.ts';
import { commands, step as spoken } from '../__fixtures__/spoken-step.ts';
import { createGateway, type Gateway, type Lane } from '../index.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const clientOf = ({ env }: Lane, attempts = 1): GoogleGenAI =>
  new GoogleGenAI({
    apiKey: env.GEMINI_API_KEY ?? '',
    httpOptions: {
      baseUrl: env.GOOGLE_GEMINI_BASE_URL ?? '',
      retryOptions: { attempts, initialDelay: 0.05, maxDelay: 0.1 },
    },
  });

const { cacheWriteTokens: _, ...usage } = spoken.usage;
const step = { ...spoken, usage };

const shell = {
  name: 'shell',
  parametersJsonSchema: { type: 'object', properties: { command: { type: 'string' } } },
};
const ask = {
  model: 'gemini-2.5-pro',
  contents: 'go',
  config: { tools: [{ functionDeclarations: [shell] }], thinkingConfig: { includeThoughts: true } },
};

type Received = { parts: Part[]; last: GenerateContentResponse };

const ways = {
  async whole(client: GoogleGenAI): Promise<Received> {
    const last = await client.models.generateContent(ask);
    return { parts: last.candidates?.[0]?.content?.parts ?? [], last };
  },
  async streamed(client: GoogleGenAI): Promise<Received> {
    const parts: Part[] = [];
    let last: GenerateContentResponse | undefined;
    for await (const chunk of await client.models.generateContentStream(ask)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      last = chunk;
    }
    return last ? { parts, last } : expect.unreachable();
  },
};

const textOf = (parts: Part[], thought: boolean): string =>
  parts
    .filter((part) => (part.thought ?? false) === thought)
    .map((part) => part.text ?? '')
    .join('');

describe.each(routes)('the Google Gen AI SDK, route %s', (route) => {
  describe.each(Object.entries(ways))('%s', (_way, receive) => {
    test('receives text, thoughts, tools and usage', async () => {
      await using served = await serve(gateway, route, step);
      const { parts, last } = await receive(clientOf(served.lane));
      expect([textOf(parts, true), textOf(parts, false)]).toEqual([step.thinking, step.text]);
      expect(parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))).toMatchObject(
        commands.map((command) => ({ name: 'shell', args: { command }, id: expect.any(String) })),
      );
      expect(last).toMatchObject({ modelVersion: 'gemini-2.5-pro', candidates: [{ finishReason: 'STOP' }] });
      expect(last.usageMetadata).toEqual({
        promptTokenCount: 120,
        cachedContentTokenCount: 20,
        candidatesTokenCount: 10,
        thoughtsTokenCount: 40,
        totalTokenCount: 170,
      });
      expect(served.lane.ledger.map((line) => line.usage)).toEqual([step.usage]);
    });

    test('receives a final text', async () => {
      await using served = await serve(gateway, route, { text: 'Done.' });
      const { parts, last } = await receive(clientOf(served.lane));
      expect([textOf(parts, false), last.functionCalls]).toEqual(['Done.', undefined]);
    });

    test.each([
      [401, 'UNAUTHENTICATED'],
      [429, 'RESOURCE_EXHAUSTED'],
      [500, 'INTERNAL'],
      [529, 'UNAVAILABLE'],
    ])('throws an ApiError for %i: %s', async (status, name) => {
      const faults = [{ fault: { kind: 'status', status, retryAfterSeconds: 0.05 } as const }];
      await using served = await serve(gateway, route, step, { faults });
      const error = await receive(clientOf(served.lane)).then(
        () => expect.unreachable(),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status, message: expect.stringContaining(name) });
    });

    test('retries a 429', async () => {
      const faults = [
        { fault: { kind: 'status', status: 429, retryAfterSeconds: 0.05 }, when: { first: 1 } } as const,
      ];
      await using served = await serve(gateway, route, { text: 'Done.' }, { faults });
      const { parts } = await receive(clientOf(served.lane, 3));
      expect(textOf(parts, false)).toBe('Done.');
      expect(served.lane.ledger.map((line) => [line.status, line.retries])).toEqual([
        [429, 0],
        [200, 1],
      ]);
    });

    test('does not retry when a budget is used up', async () => {
      await using served = await serve(gateway, route, step, { budget: { calls: 0 } });
      await expect(receive(clientOf(served.lane, 5))).rejects.toThrow('budget is used up');
      expect(served.lane.ledger.map((line) => [line.status, line.flags])).toEqual([[400, ['over-budget']]]);
    });

    test('does not receive a malformed tool call, as with the provider', async () => {
      const faults = [{ fault: { kind: 'malformed-tool-json' } as const }];
      await using served = await serve(gateway, route, step, { faults });
      const { parts, last } = await receive(clientOf(served.lane));
      expect(parts.some((part) => part.functionCall)).toBe(false);
      expect(last.candidates?.[0]?.finishReason).toBe('MALFORMED_FUNCTION_CALL');
    });
  });

  test("continues a conversation with the model's reply and the result of its tool", async () => {
    await using served = await serve(gateway, route, {
      thinking: 'Hm.',
      calls: [{ tool: 'shell', command: 'ls' }],
    });
    const client = clientOf(served.lane);
    const first = await client.models.generateContent(ask);
    const { id, name } = first.functionCalls?.[0] ?? expect.unreachable();
    const contents: Content[] = [
      { role: 'user', parts: [{ text: 'go' }] },
      first.candidates?.[0]?.content ?? expect.unreachable(),
      {
        role: 'user',
        parts: [
          { functionResponse: { ...present({ id }), name: name ?? '', response: { output: 'a.txt' } } },
        ],
      },
    ];
    await client.models.generateContent({ ...ask, contents });
    expect(served.provider.ledger.map((line) => line.step)).toEqual([0, 1]);
  });

  test('counts tokens and lists models', async () => {
    await using served = await serve(gateway, route, step);
    const client = clientOf(served.lane);
    const { totalTokens } = await client.models.countTokens({
      model: ask.model,
      contents: 'go on '.repeat(9),
    });
    expect(totalTokens).toBeGreaterThan(0);
    const models: (string | undefined)[] = [];
    for await (const model of await client.models.list()) models.push(model.name);
    expect(models).toEqual(['models/scripted-model']);
    expect(served.lane.ledger.map((line) => line.flags)).toEqual([['auxiliary'], ['auxiliary']]);
  });
});
