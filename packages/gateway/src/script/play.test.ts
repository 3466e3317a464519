import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, clientOf, postJson, shellTool, userPrompt } from '../__fixtures__/clients.ts';
import {
  createGateway,
  defineScript,
  type Gateway,
  type Lane,
  type Script,
  type ScriptRequest,
  type ScriptStep,
  scriptFromSteps,
  type WireProtocol,
} from '../index.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const openLane = (script: Script, owner = 'a', seed = 1): Promise<Lane> =>
  gateway.open({ owner, mode: { kind: 'script', script, seed } });

type AssistantContent = Extract<LanguageModelV4Prompt[number], { role: 'assistant' }>['content'];

const shellStep = (command: string): ScriptStep => ({ calls: [{ tool: 'shell', command }] });
const protocols: WireProtocol[] = ['openai-responses', 'anthropic-messages'];

describe.each(protocols)('an agent on %s', (wire) => {
  const steps = [
    { ...shellStep('one'), thinking: 'Begin.' },
    {
      text: 'Twice.',
      calls: [
        { tool: 'shell' as const, command: 'two' },
        { tool: 'shell' as const, command: 'three' },
      ],
    },
    shellStep('four'),
    { text: 'Finished.' },
  ];

  /** Works like an agent: answers calls until there are none, and sends each request twice, like a retry. */
  async function work(lane: Lane, prompt: LanguageModelV4Prompt): Promise<string[]> {
    const model = clientOf(wire, lane);
    const said: string[] = [];
    for (let round = 0; round < 10; round++) {
      const options = { prompt, tools: [shellTool], providerOptions: { openai: { store: false } } };
      const [{ content }, repeated] = [await model.doGenerate(options), await model.doGenerate(options)];
      expect(repeated.content).toEqual(content);
      const calls = content.filter((part) => part.type === 'tool-call');
      said.push(...calls.map((part) => JSON.parse(part.input).command));
      const replied: AssistantContent = [];
      for (const part of content) {
        if (part.type === 'text') replied.push({ type: 'text', text: part.text });
        if (part.type === 'tool-call') replied.push({ ...part, input: JSON.parse(part.input) });
      }
      prompt.push({ role: 'assistant', content: replied });
      if (calls.length === 0)
        return [...said, ...content.flatMap((part) => (part.type === 'text' ? [part.text] : []))];
      prompt.push({
        role: 'tool',
        content: calls.map(({ toolCallId, toolName }) => ({
          type: 'tool-result',
          toolCallId,
          toolName,
          output: { type: 'text', value: 'ok' },
        })),
      });
      if (round === 1)
        prompt.push({ role: 'user', content: [{ type: 'text', text: 'Steering, not a new prompt.' }] });
    }
    throw new Error('the script has no end');
  }

  test('plays each step once, despite repeated requests and messages in between, and again in the next turn', async () => {
    await using lane = await openLane(scriptFromSteps('steps', steps));
    const prompt: LanguageModelV4Prompt = [{ role: 'system', content: 'Be brief.' }, ...userPrompt('go')];
    expect(await work(lane, prompt)).toEqual(['one', 'two', 'three', 'four', 'Finished.']);
    prompt.push(...userPrompt('again'));
    expect(await work(lane, prompt)).toEqual(['one', 'two', 'three', 'four', 'Finished.']);
    expect(lane.ledger.map((line) => line.step)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3]);
  });

  test('parallel lanes play their own scripts', async () => {
    const lanes = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        openLane(
          scriptFromSteps(`s${index}`, [shellStep(`c${index}`), { text: `end ${index}` }]),
          `owner ${index}`,
        ),
      ),
    );
    const said = await Promise.all(lanes.map((lane) => work(lane, userPrompt('go'))));
    expect(said).toEqual(lanes.map((_, index) => [`c${index}`, `end ${index}`]));
    expect(lanes.every((lane, index) => lane.ledger.every((line) => line.owner === `owner ${index}`))).toBe(
      true,
    );
    await Promise.all(lanes.map((lane) => lane.close()));
  });
});

test('a script sees the contents of the request', async () => {
  const seen: ScriptRequest[] = [];
  await using lane = await openLane({
    name: 'watcher',
    play: (request) => {
      seen.push(request);
      return { text: 'ok' };
    },
  });
  await postJson(lane, '/v1/responses', {
    model: 'gpt-5.5',
    instructions: 'Be brief.',
    tools: [{ type: 'function', name: 'shell', parameters: {} }],
    input: [
      { role: 'user', content: 'An earlier prompt.' },
      { role: 'assistant', content: 'An earlier answer.' },
      { role: 'user', content: 'The prompt.' },
      { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'a result' },
    ],
  });
  expect(seen).toMatchObject([
    {
      step: 1,
      userText: 'The prompt.',
      instructions: 'Be brief.',
      text: 'Be brief.\nAn earlier prompt.\nAn earlier answer.\nThe prompt.\na result',
      toolResults: [{ name: 'shell', output: 'a result' }],
      tools: [{ name: 'shell' }],
      family: 'unknown',
      model: 'gpt-5.5',
      wire: 'openai-responses',
      owner: 'a',
    },
  ]);
});

test('draws are the same in every request of a lane, and differ between owners and seeds', async () => {
  const script = defineScript({
    name: 'chance',
    play: ({ chance }) => ({
      text: Array.from({ length: 40 }, (_, n) => (chance(`${n}`, 0.5) ? 1 : 0)).join(''),
    }),
  });
  const draw = async (owner: string, seed: number) => {
    await using lane = await openLane(script, owner, seed);
    const answers = await Promise.all(['one', 'two'].map((input) => postJson(lane, '/responses', { input })));
    const texts = answers.map(({ body }) => /[01]{40}/.exec(JSON.stringify(body))?.[0]);
    expect(texts[0]).toBe(texts[1]);
    return texts[0];
  };
  const draws = await Promise.all([draw('a', 1), draw('a', 1), draw('b', 1), draw('a', 2)]);
  expect(draws[0]).toBe(draws[1]);
  expect(new Set(draws).size).toBe(3);
});

describe('a request gets an error that says why', () => {
  test.each<[string, Script['play'], string]>([
    [
      'throws',
      () => Promise.reject(new Error('no such file')),
      'Step 0 of script "bad" failed: no such file',
    ],
    ['returns no step', () => JSON.parse('null'), 'Step 0 of script "bad" is not a valid step'],
    ['returns an invalid call', () => JSON.parse('{"calls":[{"tool":"rm"}]}'), 'calls.0.tool'],
    [
      'asks for something that no tool can do',
      () => ({ calls: [{ tool: 'write', path: 'a', content: '' }] }),
      'no offered tool can do "write a". Offered tools: look',
    ],
  ])('when the script %s', async (_what, play, message) => {
    await using lane = await openLane({ name: 'bad', play });
    const tools = [{ type: 'function', name: 'look', parameters: {} }];
    const answer = await postJson(lane, '/v1/responses', { input: 'go', tools });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(message) } },
    });
    expect(lane.ledger).toMatchObject([
      { outcome: 'error', error: expect.stringContaining(message), usage: null },
    ]);
  });

  test('when its history is only on the server', async () => {
    await using lane = await openLane(scriptFromSteps('s', []));
    const answer = await postJson(lane, '/v1/responses', { input: 'go', previous_response_id: 'resp_1' });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('whole history') } },
    });
  });
});

describe('side requests', () => {
  const title = {
    model: 'm',
    system: 'Name this session.',
    messages: [{ role: 'user', content: 'Fix the bug' }],
  };
  const send = async (lane: Lane, userAgent: string, body: object) => {
    const headers = { 'user-agent': userAgent };
    await call(lane, '/v1/messages', { method: 'POST', headers, body: JSON.stringify(body) });
    return lane.ledger.at(-1);
  };

  test('from known agents do not play the script; requests of a plain client do', async () => {
    await using lane = await openLane(scriptFromSteps('s', [{ text: 'Played.' }]));
    const tools = [{ name: 'Bash', input_schema: { properties: { command: {} } } }];
    expect(await send(lane, 'claude-cli/2.1.330 (external, cli)', title)).toMatchObject({
      agent_family: 'claude-code',
      flags: ['side-request'],
      status: 200,
      step: null,
    });
    expect(await send(lane, 'claude-cli/2.1.330', { ...title, tools })).toMatchObject({ flags: [], step: 0 });
    expect(await send(lane, 'curl/8', title)).toMatchObject({ flags: [], step: 0, agent_family: 'unknown' });
  });
});
