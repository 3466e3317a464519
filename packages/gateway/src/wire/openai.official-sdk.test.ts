import OpenAI from 'openai';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, serve } from '../__fixtures__/served-lanes.ts';
import { commands, step } from '../__fixtures__/spoken-step.ts';
import { createGateway, type Fault, type Gateway, type Lane } from '../index.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const clientOf = ({ env }: Lane, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: env.OPENAI_BASE_URL ?? '', apiKey: env.OPENAI_API_KEY ?? '', maxRetries });

const parameters = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
  additionalProperties: false,
};

const called = commands.map((command) => JSON.stringify({ command }));

const askResponses = {
  model: 'gpt-5.5',
  input: 'go',
  tools: [{ type: 'function' as const, name: 'shell', parameters, strict: true }],
};
const askChat = {
  model: 'gpt-5.5',
  messages: [{ role: 'user' as const, content: 'go' }],
  tools: [{ type: 'function' as const, function: { name: 'shell', parameters } }],
};

const respond = {
  whole: (client: OpenAI): Promise<Response> => client.responses.create(askResponses),
  streamed: (client: OpenAI): Promise<Response> => client.responses.stream(askResponses).finalResponse(),
};

const complete = {
  whole: (client: OpenAI): Promise<ChatCompletion> => client.chat.completions.create(askChat),
  streamed: (client: OpenAI): Promise<ChatCompletion> =>
    client.chat.completions
      .stream({ ...askChat, stream_options: { include_usage: true } })
      .finalChatCompletion(),
};

const ways = ['whole', 'streamed'] as const;

describe.each(routes)('the openai SDK, route %s', (route) => {
  describe.each(ways)('%s', (way) => {
    test('receives text, reasoning, tools and usage of a response', async () => {
      await using served = await serve(gateway, route, step);
      const response = await respond[way](clientOf(served.lane));
      expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'gpt-5.5' });
      expect(response.output_text).toBe(step.text);
      expect(response.output).toMatchObject([
        { type: 'reasoning', summary: [{ text: step.thinking }] },
        { type: 'message', role: 'assistant', status: 'completed' },
        ...called.map((input) => ({ type: 'function_call', name: 'shell', arguments: input })),
      ]);
      expect(response.usage).toEqual({
        input_tokens: 123,
        input_tokens_details: { cached_tokens: 20, cache_write_tokens: 3 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 40 },
        total_tokens: 173,
      });
      expect(served.lane.ledger.map((line) => line.usage)).toEqual([step.usage]);
    });

    test('receives text, reasoning, tools and usage of a chat', async () => {
      await using served = await serve(gateway, route, step);
      const completion = await complete[way](clientOf(served.lane));
      const [choice] = completion.choices;
      expect(choice).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: step.text,
          reasoning_content: step.thinking,
          tool_calls: called.map((input) => ({
            type: 'function',
            function: { name: 'shell', arguments: input },
          })),
        },
      });
      expect(completion.usage).toEqual({
        prompt_tokens: 123,
        completion_tokens: 50,
        total_tokens: 173,
        prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 40 },
      });
      expect(served.lane.ledger.map((line) => line.usage)).toEqual([step.usage]);
    });

    test('receives a final text', async () => {
      await using served = await serve(gateway, route, { text: 'Done.' });
      const response = await respond[way](clientOf(served.lane));
      expect([response.output_text, response.output.length]).toEqual(['Done.', 1]);
      const completion = await complete[way](clientOf(served.lane));
      expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Done.' } });
    });

    const failures: [Fault, new (...values: never[]) => Error, object][] = [
      [{ kind: 'status', status: 401 }, OpenAI.AuthenticationError, { status: 401, code: 'invalid_api_key' }],
      [
        { kind: 'status', status: 429, retryAfterSeconds: 0.05 },
        OpenAI.RateLimitError,
        { status: 429, type: 'rate_limit_error' },
      ],
      [{ kind: 'status', status: 500 }, OpenAI.InternalServerError, { status: 500, type: 'server_error' }],
      [{ kind: 'status', status: 529, retryAfterSeconds: 0.05 }, OpenAI.InternalServerError, { status: 529 }],
    ];
    test.each(failures)('throws the error of its type: %j', async (fault, type, fields) => {
      await using served = await serve(gateway, route, step, { faults: [{ fault }] });
      for (const ask of [respond[way], complete[way]]) {
        const error = await ask(clientOf(served.lane)).then(
          () => expect.unreachable(),
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(type);
        expect(error).toMatchObject(fields);
        if ('retryAfterSeconds' in fault && error instanceof OpenAI.APIError) {
          expect(error.headers?.get('retry-after')).toBe('0.05');
        }
      }
    });

    test('retries a 429 with Retry-After', async () => {
      const faults = [
        { fault: { kind: 'status', status: 429, retryAfterSeconds: 0.05 }, when: { first: 1 } } as const,
      ];
      await using served = await serve(gateway, route, { text: 'Done.' }, { faults });
      expect((await respond[way](clientOf(served.lane, 2))).output_text).toBe('Done.');
      expect(served.lane.ledger.map(({ status, retries }) => [status, retries])).toEqual([
        [429, 0],
        [200, 1],
      ]);
    });

    test('does not retry when a budget is used up', async () => {
      await using served = await serve(gateway, route, step, { budget: { calls: 0 } });
      for (const ask of [respond[way], complete[way]]) {
        await expect(ask(clientOf(served.lane, 5))).rejects.toMatchObject({
          status: 400,
          message: expect.stringContaining('budget is used up'),
        });
      }
      expect(served.lane.ledger.map((line) => line.flags)).toEqual([['over-budget'], ['over-budget']]);
    });

    test('receives the malformed input of a tool unchanged', async () => {
      const faults = [{ fault: { kind: 'malformed-tool-json' } as const }];
      await using served = await serve(gateway, route, step, { faults });
      const client = clientOf(served.lane);
      const response = way === 'whole' ? await respond.whole(client) : await lastResponse(client);
      const inputs = response.output.flatMap((item) =>
        item.type === 'function_call' ? [item.arguments] : [],
      );
      expect(inputs).toHaveLength(2);
      for (const input of inputs) expect(() => JSON.parse(input)).toThrow(SyntaxError);
    });
  });

  /** Without the SDK's own reading of the events, which fails on malformed input. */
  async function lastResponse(client: OpenAI): Promise<Response> {
    const events = await client.responses.create({ ...askResponses, stream: true });
    for await (const event of events) if (event.type === 'response.completed') return event.response;
    return expect.unreachable();
  }

  test('numbers every event of a streamed response, and only refers to announced items', async () => {
    await using served = await serve(gateway, route, step);
    const announced = new Set<string | undefined>();
    const numbers: number[] = [];
    for await (const event of await clientOf(served.lane).responses.create({
      ...askResponses,
      stream: true,
    })) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.output_item.added') announced.add(event.item.id);
      if ('item_id' in event) expect(announced).toContain(event.item_id);
    }
    expect(numbers.length).toBeGreaterThan(10);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  test('gets no usage of a chat without asking for it, but the ledger has it', async () => {
    await using served = await serve(gateway, route, step);
    let chunks = 0;
    const stream = await clientOf(served.lane).chat.completions.create({ ...askChat, stream: true });
    for await (const chunk of stream) {
      chunks += 1;
      expect(chunk.choices).toHaveLength(1);
      expect(chunk.usage ?? null).toBeNull();
    }
    expect(chunks).toBeGreaterThan(3);
    expect(served.lane.ledger[0]?.usage).toEqual(step.usage);
  });

  test("continues a conversation with the model's reply and the result of its tool", async () => {
    await using served = await serve(gateway, route, {
      thinking: 'Hm.',
      calls: [{ tool: 'shell', command: 'ls' }],
    });
    const client = clientOf(served.lane);
    const first = await client.responses.create({ ...askResponses, store: false });
    const outputs = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'a.txt' }]
        : [],
    );
    const next = await client.responses.create({
      ...askResponses,
      store: false,
      input: [{ role: 'user', content: 'go' }, ...first.output, ...outputs] as OpenAI.Responses.ResponseInput,
    });
    expect(next.status).toBe('completed');
    expect(served.provider.ledger.map((line) => line.step)).toEqual([0, 1]);
  });

  test('lists models', async () => {
    await using served = await serve(gateway, route, step);
    const models: string[] = [];
    for await (const model of clientOf(served.lane).models.list()) models.push(model.id);
    expect(models).toEqual(['scripted-model']);
    expect(served.lane.ledger).toMatchObject([{ status: 200, flags: ['auxiliary'] }]);
  });
});
