import { createOpenAI } from '@ai-sdk/openai';
import { expect, test } from 'vitest';
import { startSession } from '../__fixtures__/start-session.ts';

const message = {
  ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
  content: [{ type: 'refusal', refusal: 'I cannot help.' }],
};
const response = {
  ...{ id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [message] },
  usage: { input_tokens: 5, output_tokens: 3 },
};
const place = { item_id: 'm', output_index: 0, content_index: 0 };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const streams = {
  responses: [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
    { type: 'response.refusal.delta', ...place, delta: 'I cannot help.' },
    { type: 'response.refusal.done', ...place, refusal: 'I cannot help.' },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response },
  ],
  chat: [chunk({ role: 'assistant', refusal: 'I cannot' }), chunk({ refusal: ' help.' }), chunk({}, 'stop')],
};

test.each(['responses', 'chat'] as const)(
  'the host reads what a model of OpenAI refuses with: %s',
  async (api) => {
    const body = streams[api].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream' };
    const openai = createOpenAI({ apiKey: 'x', fetch: async () => new Response(body, { headers }) });
    await using run = await startSession([], { model: openai[api]('m') });
    const result = await run.session.submit('go');
    expect(result).toMatchObject({ reason: 'refused', text: 'I cannot help.', modelCalls: 1 });
    expect(result.error?.message).toMatch(/refused \(.+\)\. It said: I cannot help\.$/);
    expect(run.of('ASSISTANT_TEXT_END').map(({ data }) => data.text)).toEqual(['I cannot help.']);
  },
);
