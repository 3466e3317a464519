import { expect, test } from 'vitest';
import { clientOf, generate, shellTool, userPrompt } from '../__fixtures__/clients.ts';
import { createGateway } from '../gateway.ts';
import { scriptFromSteps, scriptStepSchema } from './script.ts';

const data = { verdict: 'good', findings: [{ line: 3 }] };

async function answered(tools: readonly string[], wire: Parameters<typeof clientOf>[0]) {
  await using gateway = await createGateway();
  const script = scriptFromSteps('answer', [{ thinking: 'I know.', data }]);
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const offered = tools.map((name) => ({ ...shellTool, name }));
  return await generate(clientOf(wire, lane), { prompt: userPrompt('go'), tools: offered });
}

test.each([
  ['StructuredOutput', 'anthropic-messages'],
  ['structured_output', 'openai-chat-completions'],
] as const)('data is a call of %s where that is offered', async (name, wire) => {
  const { text, calls, finish } = await answered(['shell', name], wire);
  expect({ text, finish }).toEqual({ text: '', finish: 'tool-calls' });
  expect(calls.map((call) => ({ ...call, input: JSON.parse(call.input) }))).toEqual([{ name, input: data }]);
});

test('for other agents the answer is text', async () => {
  const { text, calls, finish } = await answered(['shell'], 'openai-responses');
  expect({ data: JSON.parse(text), calls, finish }).toEqual({ data, calls: [], finish: 'stop' });
});

test.each([
  ['text', { data, text: 'Look:' }],
  ['calls', { data, calls: [] }],
])('a structured answer cannot have %s, because it is the whole answer', (_, step) => {
  expect(scriptStepSchema.safeParse(step).error?.issues).toMatchObject([{ path: ['data'] }]);
});
