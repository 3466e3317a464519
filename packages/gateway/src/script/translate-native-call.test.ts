import type { JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { postJson } from '../__fixtures__/clients.ts';
import { createGateway } from '../gateway.ts';
import { type NativeCall, scriptFromSteps } from './script.ts';
import { parseYamlScript } from './yaml.ts';

const tools = [
  { type: 'function', name: 'grep', parameters: { type: 'object', properties: { pattern: {} } } },
  { type: 'custom', name: 'apply_patch', description: 'Patch.' },
  { type: 'web_search' },
];

/** The answer to a client that offers these tools, when the script makes the call. */
async function play(call: NativeCall) {
  await using gateway = await createGateway();
  const script = scriptFromSteps('native', [{ calls: [call] }]);
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const { status, body } = await postJson(lane, '/v1/responses', { input: 'go', tools });
  return { status, body: body as { output?: JsonObject[]; error?: JsonObject } };
}

test('the input of a function and the text of a freeform tool pass unchanged', async () => {
  const input = { pattern: 'a|b', nested: [{ deep: null }], unknown_to_the_schema: true };
  const called = await play({ tool: 'native', name: 'grep', input });
  expect(called.body.output).toMatchObject([{ type: 'function_call', name: 'grep' }]);
  expect(JSON.parse(String(called.body.output?.[0]?.arguments))).toEqual(input);

  const text = '*** Begin Patch\r\n no patch at all';
  const patched = await play({ tool: 'native', name: 'apply_patch', input: text });
  expect(patched.body.output).toMatchObject([{ type: 'custom_tool_call', name: 'apply_patch', input: text }]);
});

test.each<[string, NativeCall, string]>([
  ['is not offered', { tool: 'native', name: 'Grep', input: {} }, 'native Grep with an object'],
  ['takes text', { tool: 'native', name: 'apply_patch', input: {} }, 'native apply_patch with an object'],
  ['takes an object', { tool: 'native', name: 'grep', input: 'x' }, 'native grep with text'],
  [
    'runs at the provider',
    { tool: 'native', name: 'web_search', input: {} },
    'native web_search with an object',
  ],
])(
  'a call of a tool that %s is an error that names the step, the call and the tools',
  async (_what, call, said) => {
    const { status, body } = await play(call);
    expect(status).toBe(400);
    expect(body.error?.message).toBe(
      `Step 0 of script "native": no offered tool can do "${said}". Offered tools: grep, apply_patch, web_search.`,
    );
  },
);

test('a script in YAML can have native calls', async () => {
  const source = (input: string) =>
    `name: s\ndefault:\n  - calls: [{ tool: native, name: wait, input: ${input} }]\n`;
  const script = parseYamlScript(source('{ agent_ids: [a, b], timeout_ms: 5 }'), 'x.yaml');
  const request = { step: 0, userText: '', instructions: '', text: '', toolResults: [], tools: [] };
  const rest = { family: 'unknown', model: 'm', wire: 'openai-responses', owner: 'a' } as const;
  expect(await script.play({ ...request, ...rest, chance: () => true })).toEqual({
    calls: [{ tool: 'native', name: 'wait', input: { agent_ids: ['a', 'b'], timeout_ms: 5 } }],
  });
  expect(() => parseYamlScript(source('5'), 'x.yaml')).toThrow(
    /^x\.yaml:3:\d+ {2}default\.0\.calls\.0\.input: an object or text/,
  );
});
