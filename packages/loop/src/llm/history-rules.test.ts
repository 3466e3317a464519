import type { LanguageModelV4 } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { startModelServer, type WireAnswer } from '../__fixtures__/model-server.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import { MODELS } from '../__fixtures__/wire-body.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { refusalOf } from './__fixtures__/history-rules.ts';
import { malformedHistories } from './__fixtures__/malformed-histories.ts';
import { createModel } from './create-model.ts';
import type { NativeProvider } from './native-providers.ts';

test.each(malformedHistories)('$provider refuses a history with $what', ({ provider, body, says }) => {
  const { error } = refusalOf(provider, body) as { error: { message: string } };
  expect(error.message).toMatch(says);
});

/** A response of each provider with its own reasoning, which calls the tool `next`. */
const calls: Record<NativeProvider, (count: number) => WireAnswer> = {
  anthropic: (count) => {
    const block = (index: number, content: object, ...deltas: object[]) => [
      { type: 'content_block_start', index, content_block: content },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const message = { id: `m${count}`, type: 'message', role: 'assistant', content: [], model: 'claude' };
    return {
      events: [
        { type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } },
        ...block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'hm' },
          { type: 'signature_delta', signature: `anthropic:${count}` },
        ),
        ...block(1, { type: 'tool_use', id: `toolu_${count}`, name: 'next', input: {} }),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ],
    };
  },
  openai: (count) => {
    const item = (index: number, content: object) => [
      { type: 'response.output_item.added', output_index: index, item: content },
      { type: 'response.output_item.done', output_index: index, item: content },
    ];
    const response = { id: `r${count}`, created_at: 1, model: 'gpt-5.2', object: 'response' };
    const usage = { input_tokens: 1, output_tokens: 1 };
    return {
      events: [
        { type: 'response.created', response },
        ...item(0, {
          type: 'reasoning',
          id: `rs_${count}`,
          summary: [],
          encrypted_content: `openai:${count}`,
        }),
        ...item(1, {
          ...{ type: 'function_call', id: `fc_${count}_0`, call_id: `call_${count}`, name: 'next' },
          arguments: '{}',
          status: 'completed',
        }),
        { type: 'response.completed', response: { ...response, incomplete_details: null, usage } },
      ],
    };
  },
  google: (count) => {
    const parts = [
      { text: 'hm', thought: true },
      { functionCall: { name: 'next', args: {} }, thoughtSignature: `google:${count}` },
    ];
    return {
      events: [{ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] }],
    };
  },
};

test('a session that changes its provider after each round sends what each provider takes, and its reasoning back', async () => {
  const route: NativeProvider[] = [
    ...(['anthropic', 'google', 'openai', 'anthropic', 'anthropic', 'openai'] as const),
    ...(['google', 'google', 'anthropic', 'openai', 'anthropic', 'google'] as const),
  ];
  await using server = await startModelServer(route.map((provider, count) => calls[provider](count)));
  const models = {} as Record<NativeProvider, LanguageModelV4>;
  for (const provider of ['anthropic', 'openai', 'google'] as const)
    models[provider] = await createModel({
      provider,
      model: MODELS[provider],
      baseUrl: server.baseUrl,
      apiKey: 'k',
    });
  let round = 0;
  const next = customTool('next', () => {
    round += 1;
    run.session.setModel(models[route[round] ?? 'openai']);
    return 'fine';
  });
  const profile = createOpenAiProfile({ model: MODELS.openai });
  profile.toolRegistry.register(next);
  await using run = await startSession([], {
    model: models.anthropic,
    profile,
    config: { reasoningEffort: 'high', enableLoopDetection: false, maxToolRoundsPerInput: 6 },
  });
  await run.session.submit('go');
  await run.session.submit('go on');
  const refused = server.requests.map(({ body }, count) => refusalOf(route[count] ?? 'openai', body));
  expect(refused).toEqual(route.map(() => undefined));

  const thinking = server.requests.map(({ body }) => (body.thinking as { type: string } | undefined)?.type);
  // The first response to the second input is Gemini's: the thinking rests, because Anthropic would refuse its budget.
  expect(thinking).toEqual([
    ...['enabled', undefined, undefined, 'enabled', 'enabled', undefined],
    ...[undefined, undefined, 'disabled', undefined, 'disabled', undefined],
  ]);
  const sealsIn = (count: number) =>
    JSON.stringify(server.requests[count]?.body).match(/(?:anthropic|openai|google):\d/g);
  expect(sealsIn(7)).toEqual(['google:1', 'google:6']);
  expect(sealsIn(8)).toEqual(['anthropic:0', 'anthropic:3', 'anthropic:4']);
  expect(sealsIn(9)).toEqual(['openai:2', 'openai:5']);
});
