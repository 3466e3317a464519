import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, serve } from '../__fixtures__/served-lanes.ts';
import { commands, step } from '../__fixtures__/spoken-step.ts';
import { createGateway, type Fault, type Gateway, type Lane } from '../index.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const clientOf = ({ env }: Lane, maxRetries = 0): Anthropic =>
  new Anthropic({ baseURL: env.ANTHROPIC_BASE_URL ?? '', apiKey: env.ANTHROPIC_API_KEY ?? '', maxRetries });

const tools: Anthropic.Tool[] = [
  { name: 'shell', input_schema: { type: 'object', properties: { command: { type: 'string' } } } },
];
const ask = {
  model: 'claude-opus-5',
  max_tokens: 1000,
  tools,
  messages: [{ role: 'user' as const, content: 'go' }],
};

const ways = {
  whole: (client: Anthropic): Promise<Anthropic.Message> => client.messages.create(ask),
  streamed: (client: Anthropic): Promise<Anthropic.Message> => client.messages.stream(ask).finalMessage(),
};

describe.each(routes)('the Anthropic SDK, route %s', (route) => {
  describe.each(Object.entries(ways))('%s', (_way, receive) => {
    test('receives text, thinking, tools and usage', async () => {
      await using served = await serve(gateway, route, step);
      const message = await receive(clientOf(served.lane));
      expect(message).toMatchObject({
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-5',
        stop_reason: 'tool_use',
        content: [
          { type: 'thinking', thinking: step.thinking, signature: expect.stringMatching(/.+/) },
          { type: 'text', text: step.text },
          ...commands.map((command) => ({ type: 'tool_use', name: 'shell', input: { command } })),
        ],
      });
      expect(message.usage).toEqual({
        input_tokens: 100,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 20,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 40 },
      });
      expect(served.lane.ledger.map((line) => line.usage)).toEqual([step.usage]);
    });

    test('receives a final text', async () => {
      await using served = await serve(gateway, route, { text: 'Done.' });
      expect(await receive(clientOf(served.lane))).toMatchObject({
        stop_reason: 'end_turn',
        content: [{ type: 'text', text: 'Done.' }],
      });
    });

    const failures: [Fault, new (...values: never[]) => Error, number, string][] = [
      [{ kind: 'status', status: 401 }, Anthropic.AuthenticationError, 401, 'authentication_error'],
      [
        { kind: 'status', status: 429, retryAfterSeconds: 0.05 },
        Anthropic.RateLimitError,
        429,
        'rate_limit_error',
      ],
      [{ kind: 'status', status: 500 }, Anthropic.InternalServerError, 500, 'api_error'],
      [{ kind: 'status', status: 529 }, Anthropic.InternalServerError, 529, 'overloaded_error'],
    ];
    test.each(failures)('throws the error of its type: %j', async (fault, type, status, errorType) => {
      await using served = await serve(gateway, route, step, { faults: [{ fault }] });
      const error = await receive(clientOf(served.lane)).then(
        () => expect.unreachable(),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, type: errorType, error: { error: { type: errorType } } });
      if (status === 429 && error instanceof Anthropic.APIError) {
        expect(error.headers?.get('retry-after')).toBe('0.05');
      }
    });

    test.each([429, 529])('retries a %i with Retry-After', async (status) => {
      const faults = [
        { fault: { kind: 'status', status, retryAfterSeconds: 0.05 }, when: { first: 1 } } as const,
      ];
      await using served = await serve(gateway, route, { text: 'Done.' }, { faults });
      expect((await receive(clientOf(served.lane, 2))).stop_reason).toBe('end_turn');
      expect(served.lane.ledger.map((line) => [line.status, line.retries])).toEqual([
        [status, 0],
        [200, 1],
      ]);
    });

    test('does not retry when a budget is used up', async () => {
      await using served = await serve(gateway, route, step, { budget: { calls: 0 } });
      await expect(receive(clientOf(served.lane, 5))).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining('budget is used up'),
      });
      expect(served.lane.ledger.map((line) => line.flags)).toEqual([['over-budget']]);
    });
  });

  test('gives malformed tool input as text when whole, and as an error when streamed', async () => {
    const faults = [{ fault: { kind: 'malformed-tool-json' } as const }];
    await using served = await serve(gateway, route, step, { faults });
    const whole = await ways.whole(clientOf(served.lane));
    for (const block of whole.content) {
      if (block.type === 'tool_use') expect(() => JSON.parse(String(block.input))).toThrow(SyntaxError);
    }
    await expect(ways.streamed(clientOf(served.lane))).rejects.toThrow(/JSON/);
  });

  test("continues a conversation with the model's reply and the result of its tool", async () => {
    await using served = await serve(gateway, route, {
      thinking: 'Hm.',
      calls: [{ tool: 'shell', command: 'ls' }],
    });
    const client = clientOf(served.lane);
    const { content } = await client.messages.create(ask);
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'a.txt' }]
        : [],
    );
    const messages: Anthropic.MessageParam[] = [
      ...ask.messages,
      { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
      { role: 'user', content: results },
    ];
    await client.messages.create({ ...ask, messages });
    expect(served.provider.ledger.map((line) => line.step)).toEqual([0, 1]);
  });

  test('counts tokens and lists models', async () => {
    await using served = await serve(gateway, route, step);
    const client = clientOf(served.lane);
    const { model, messages } = ask;
    const counted = await client.messages.countTokens({ model, messages, tools });
    expect(counted.input_tokens).toBeGreaterThan(0);
    const models: string[] = [];
    for await (const each of client.models.list()) models.push(each.id);
    expect(models).toEqual(['scripted-model']);
    expect(served.lane.ledger.map((line) => line.flags)).toEqual([['auxiliary'], ['auxiliary']]);
  });
});
