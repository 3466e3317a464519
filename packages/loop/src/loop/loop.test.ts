import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { APICallError } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { calls, finish, type ModelStep, says, textParts, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { defineTool } from '../tools/tool.ts';

test('tools run and their results go back to the model', async () => {
  await using run = await startSession([
    calls(toolCall('write_file', { file_path: 'a.txt', content: 'one\n' })),
    calls(toolCall('edit_file', { file_path: 'a.txt', old_string: 'one', new_string: 'two' })),
    calls(toolCall('shell', { command: 'cat a.txt' })),
    says('wrote two'),
  ]);
  const result = await run.session.submit('do it');
  expect(result).toMatchObject({ reason: 'completed', text: 'wrote two', toolRounds: 3, modelCalls: 4 });
  expect(await readFile(run.place.path('a.txt'), 'utf8')).toBe('two\n');
  expect(run.of('TOOL_CALL_END').map((event) => event.data.status)).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
  expect(run.of('TOOL_CALL_END')[2]?.data.output).toContain('two');
  expect(run.of('TOOL_CALL_END')[2]?.data.details).toMatchObject({ exitCode: 0 });
  expect(run.session.history.map((turn) => turn.kind)).toEqual([
    'user',
    ...['assistant', 'tool_results', 'assistant', 'tool_results', 'assistant', 'tool_results'],
    'assistant',
  ]);
});

test('shared calls of one response run at the same time, exclusive ones by themselves', async () => {
  const log: string[] = [];
  const tool = (name: string, concurrency: 'shared' | 'exclusive') =>
    customTool(
      name,
      async ({ n }) => {
        log.push(`${name}${n} starts`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name}${n} ends`);
        return 'ok';
      },
      { concurrency },
    );
  await using run = await startSession(
    [
      calls(
        toolCall('look', { n: 1 }),
        toolCall('look', { n: 2 }),
        toolCall('change', { n: 3 }),
        toolCall('look', { n: 4 }),
      ),
    ],
    { tools: [tool('look', 'shared'), tool('change', 'exclusive')] },
  );
  await run.session.submit('go');
  expect(log.slice(0, 4)).toEqual(['look1 starts', 'look2 starts', 'look1 ends', 'look2 ends']);
  expect(log.slice(4)).toEqual(['change3 starts', 'change3 ends', 'look4 starts', 'look4 ends']);
  const turn = run.session.history.find((entry) => entry.kind === 'tool_results');
  expect(turn?.results).toHaveLength(4);
});

test('an unknown tool and bad arguments become results that say what to mend', async () => {
  await using run = await startSession([
    calls(
      toolCall('no_such_tool', {}),
      toolCall('shell', { timeout_ms: 'soon' }),
      toolCall('shell', '{"command": "ec'),
      toolCall('shell', '["ls"]'),
    ),
    says('sorry'),
  ]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'sorry' });
  const outputs = run.of('TOOL_CALL_END').map((event) => event.data.output);
  expect(outputs[0]).toMatch(/Unknown tool: no_such_tool\. The tools are: read_file, /);
  expect(outputs[1]).toMatch(
    /Invalid arguments for tool: shell\. .*required property 'command'.*\/timeout_ms must be integer/,
  );
  expect(outputs[2]).toMatch(/Invalid arguments for tool: shell\. the arguments are not valid JSON/);
  expect(outputs[3]).toMatch(/must be an object, got \["ls"\]/);
  // Arguments that do not parse go back as an object, which is what the wires take.
  const assistant = run.model.requests[1]?.prompt.find((message) => message.role === 'assistant');
  expect(assistant?.content[2]).toMatchObject({ input: { raw_arguments: '{"command": "ec' } });
});

test('arguments that the schema does not know are let through', async () => {
  const tool = defineTool<{ n: number }>({
    definition: {
      name: 'strict',
      description: 'strict',
      parameters: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
    },
    executor: ({ n }) => `got ${n}`,
  });
  await using run = await startSession([calls(toolCall('strict', { n: 1, extra: true }))], { tools: [tool] });
  await run.session.submit('go');
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ output: 'got 1', status: 'completed' });
});

test('what a tool throws is an error result, and it is truncated like any other', async () => {
  const tool = customTool('fails', () => {
    throw new Error('x'.repeat(200_000));
  });
  await using run = await startSession([calls(toolCall('fails', {}))], { tools: [tool] });
  await run.session.submit('go');
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({
    status: 'failed',
    isError: true,
    outputComplete: true,
  });
  const turn = run.session.history.find((entry) => entry.kind === 'tool_results');
  expect(turn?.results[0]?.content.length).toBeLessThanOrEqual(30_000);
  expect(turn?.results[0]?.content).toContain('[WARNING: Tool output was truncated.');
});

test('the model reads truncated output, the event has all of it', async () => {
  await using run = await startSession([calls(toolCall('read_file', { file_path: 'big.txt' }))]);
  await writeFile(run.place.path('big.txt'), 'x'.repeat(100_000));
  await run.session.submit('read it');
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toBe(`1 | ${'x'.repeat(100_000)}`);
  const turn = run.session.history.find((entry) => entry.kind === 'tool_results');
  const content = turn?.results[0]?.content;
  expect(content?.length).toBeLessThanOrEqual(50_000);
  expect(content?.length).toBeGreaterThan(49_900);
  expect(content).toContain('[WARNING: Tool output was truncated.');
});

test('maxToolRoundsPerInput ends an input, and only that input', async () => {
  const look = () => calls(toolCall('glob', { pattern: `*.${Math.random()}` }));
  await using run = await startSession([look(), look(), look(), says('later')], {
    config: { maxToolRoundsPerInput: 2 },
  });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'tool_rounds', toolRounds: 2 });
  expect(run.of('TURN_LIMIT')[0]?.data).toEqual({ limit: 'rounds', value: 2 });
  expect(run.session.state).toBe('IDLE');
  expect(await run.session.submit('go on')).toMatchObject({ reason: 'completed', text: 'later' });
});

test('maxTurns ends the session across inputs; 0 means no limit', async () => {
  await using run = await startSession([says('1'), says('2')], {
    config: { maxTurns: 1, maxToolRoundsPerInput: 0 },
  });
  expect(await run.session.submit('a')).toMatchObject({ reason: 'completed' });
  expect(await run.session.submit('b')).toMatchObject({ reason: 'turns', modelCalls: 0 });
  expect(run.of('TURN_LIMIT')[0]?.data).toEqual({ limit: 'turns', value: 1 });
});

test('a temporary failure is retried with growing waits, and what was streamed is discarded', async () => {
  await using run = await startSession([
    apiError(503, 'busy'),
    [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'half' },
    ],
    says('whole'),
  ]);
  expect(await run.session.submit('hi')).toMatchObject({ reason: 'completed', text: 'whole', modelCalls: 1 });
  expect(run.clock.slept).toEqual([1000, 2000]);
  expect(run.of('WARNING').map((event) => event.data.data?.error)).toEqual([
    'model-server-error',
    'model-stream-broken',
  ]);
  expect(run.of('ASSISTANT_TEXT_END').map((event) => event.data.discarded)).toEqual([true, undefined]);
  expect(run.of('LLM_CALL_END')[0]?.data.retries).toBe(2);
});

test('Retry-After is honoured up to a minute, and surfaces beyond', async () => {
  await using run = await startSession([apiError(429, 'slow down', { 'retry-after': '7' }), says('ok')]);
  await run.session.submit('hi');
  expect(run.clock.slept).toEqual([7000]);
  await using late = await startSession([apiError(429, 'slow down', { 'retry-after': '3600' })]);
  expect(await late.session.submit('hi')).toMatchObject({
    reason: 'error',
    error: { code: 'model-rate-limit' },
  });
});

test('after the last retry the input ends with the error, and the session stays usable', async () => {
  await using run = await startSession([
    apiError(500, 'a'),
    apiError(500, 'b'),
    apiError(500, 'c'),
    says('ok'),
  ]);
  const result = await run.session.submit('hi');
  expect(result).toMatchObject({ reason: 'error', error: { code: 'model-server-error' } });
  expect(run.of('ERROR')).toHaveLength(1);
  expect(await run.session.submit('hi')).toMatchObject({ text: 'ok' });
});

test('a refused key closes the session at once, and appears nowhere', async () => {
  await using run = await startSession([apiError(401, 'Incorrect API key provided: sk-abcdef1234567890')]);
  const result = await run.session.submit('hi');
  expect(result).toMatchObject({ reason: 'error', error: { code: 'model-authentication-failed' } });
  expect(run.session.state).toBe('CLOSED');
  expect(run.model.requests).toHaveLength(1);
  expect(JSON.stringify(run.events)).not.toContain('sk-abcdef');
});

test('a conversation that is too long ends the input with a warning', async () => {
  await using run = await startSession([
    apiError(400, "This model's maximum context length is 10 tokens"),
    says('ok'),
  ]);
  expect(await run.session.submit('hi')).toMatchObject({ reason: 'context_overflow' });
  expect(run.of('WARNING')[0]?.data.code).toBe('context-overflow');
  expect(run.session.state).toBe('IDLE');
});

test('context usage above 80 % is reported once per input', async () => {
  const profile = createAnthropicProfile({ model: 'fake-1', contextWindowSize: 100 });
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' })), says('ok')], { profile });
  await run.session.submit('hi');
  expect(run.of('WARNING').filter((event) => event.data.code === 'context-usage')).toHaveLength(1);
});

test('a stream with only heartbeats counts as broken', async () => {
  const silent: ModelStep = () => {
    let timer: NodeJS.Timeout;
    return {
      stream: new ReadableStream({
        start(controller) {
          timer = setInterval(() => controller.enqueue({ type: 'ping' }), 1);
        },
        cancel: () => clearInterval(timer),
      }),
    };
  };
  await using run = await startSession([silent, says('awake')], { config: { streamIdleTimeoutMs: 20 } });
  expect(await run.session.submit('hi')).toMatchObject({ reason: 'completed', text: 'awake' });
  expect(run.of('WARNING')[0]?.data).toMatchObject({
    code: 'model-retry',
    data: { error: 'model-timeout', discard: true },
  });
});

test('calls of a response that was cut off do not run', async () => {
  await using run = await startSession([
    [toolCall('write_file', '{"file_path":"a.txt","content":"ha'), finish('length')],
    says('smaller then'),
  ]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'smaller then' });
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ status: 'rejected', isError: true });
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(/cut off at the output token limit/);
});

test('a model that is cut off three times in a row ends the input', async () => {
  const cut: ModelStep = () => [toolCall('shell', '{"comm'), finish('length')];
  await using run = await startSession([cut, cut, cut, says('never')]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'error', toolRounds: 3 });
});

test('text that is cut off completes with a warning', async () => {
  await using run = await startSession([[...textParts('and then'), finish('length')]]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'and then' });
  expect(run.of('WARNING')[0]?.data.code).toBe('response-truncated');
});

test('a refusal ends the input, whatever it called', async () => {
  await using run = await startSession([
    [toolCall('shell', { command: 'touch x' }), finish('content-filter', 'refusal')],
  ]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'refused' });
  expect(existsSync(run.place.path('x'))).toBe(false);
  expect(run.session.history.at(-1)?.kind).toBe('tool_results');
});

test('a paused turn is continued as it stands', async () => {
  await using run = await startSession([
    [...textParts('searching'), finish('stop', 'pause_turn')],
    says('found'),
  ]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'found', modelCalls: 2 });
  expect(run.model.requests[1]?.prompt.at(-1)?.role).toBe('assistant');
});

test('an empty answer is asked for again, then taken for what it is', async () => {
  const empty: ModelStep = [finish('stop')];
  await using run = await startSession([empty, empty, empty]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: '' });
  expect(run.model.requests).toHaveLength(3);
  expect(run.session.history.map((turn) => turn.kind)).toEqual(['user']);
});

test('a blank text is an empty answer, also where the provider hung something on it', async () => {
  const providerMetadata = { openai: { itemId: 'msg_1' } };
  const blank: ModelStep = [
    { type: 'text-start', id: '0', providerMetadata },
    { type: 'text-end', id: '0' },
    finish('stop'),
  ];
  await using run = await startSession([blank]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'done' });
  expect(run.model.requests).toHaveLength(2);
});

test('an answer that ends for an unknown reason is not passed off as a whole one', async () => {
  await using run = await startSession([[...textParts('half'), finish('other', 'LANGUAGE')]]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'half' });
  expect(run.of('WARNING').map(({ data }) => data)).toMatchObject([
    { code: 'response-truncated', message: expect.stringContaining('(LANGUAGE)') },
  ]);
});

test('an answer whose provider says that it failed is asked for again', async () => {
  await using run = await startSession([[...textParts('half'), finish('other', 'error')], says('whole')]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'whole' });
  expect(run.model.requests).toHaveLength(2);
});

test('an answer whose only call cannot be read is asked for again', async () => {
  const unreadable = new Error('arguments is not a text');
  await using run = await startSession([
    [...textParts('I run it.'), { type: 'error', error: unreadable }, finish('tool-calls', 'tool_calls')],
    says('whole'),
  ]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'whole' });
  expect(run.model.requests).toHaveLength(2);
});

test('an error part before a normal finish is not a failure', async () => {
  const odd = new Error('unknown content block');
  await using run = await startSession([[{ type: 'error', error: odd }, ...says('fine')]]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'fine' });
});

test.each([1, 2, 3])('a cycle of %i calls is noticed once and steers the model', async (period) => {
  const round =
    (n: number): ModelStep =>
    () =>
      calls(toolCall('look', { n: n % period }));
  await using run = await startSession(
    Array.from({ length: 12 }, (_, n) => round(n)),
    { tools: [customTool('look', () => 'same')] },
  );
  await run.session.submit('go');
  expect(run.of('LOOP_DETECTION')).toHaveLength(1);
  expect(run.of('LOOP_DETECTION')[0]?.data.period).toBe(period);
  expect(run.session.history.filter((turn) => turn.kind === 'steering')).toHaveLength(1);
});

test('loop detection ignores key order, and does not count polling and different calls', async () => {
  const poll = customTool('poll', () => 'same', { exemptFromLoopDetection: true });
  const steps = Array.from({ length: 12 }, () => () => calls(toolCall('poll', {})));
  await using polling = await startSession(steps, { tools: [poll] });
  await polling.session.submit('go');
  expect(polling.of('LOOP_DETECTION')).toHaveLength(0);

  const swap = (n: number) => (n % 2 ? '{"a":1,"n":2}' : '{"n":2,"a":1}');
  const look = customTool('look', () => 'same');
  const same = Array.from({ length: 10 }, (_, n) => () => calls(toolCall('look', swap(n))));
  await using swapped = await startSession(same, { tools: [look] });
  await swapped.session.submit('go');
  expect(swapped.of('LOOP_DETECTION')[0]?.data.period).toBe(1);
});

test('the approval hook stands between validation and execution', async () => {
  const asked: string[] = [];
  await using run = await startSession(
    [
      calls(
        toolCall('shell', { command: 'touch x' }),
        toolCall('shell', {}),
        toolCall('glob', { pattern: '*' }),
      ),
    ],
    {
      approve: ({ name }) => {
        asked.push(name);
        return name === 'shell' ? { decision: 'denied', reason: 'read only' } : { decision: 'approved' };
      },
    },
  );
  await run.session.submit('go');
  expect(asked).toEqual(['shell', 'glob']);
  expect(existsSync(run.place.path('x'))).toBe(false);
  expect(run.of('TOOL_CALL_END').map((event) => event.data.status)).toEqual([
    'rejected',
    'failed',
    'completed',
  ]);
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toBe('Not run: the call was denied (read only).');
});

function apiError(
  statusCode: number,
  message: string,
  responseHeaders: Record<string, string> = {},
): APICallError {
  return new APICallError({
    message,
    url: 'http://model',
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}
