import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { APICallError } from '@ai-sdk/provider';
import { expect, test, vi } from 'vitest';
import { type Clock, systemClock } from './clock.ts';
import { createAnthropicProfile } from './profiles/anthropic-profile.ts';
import { Session, type SessionOptions, SessionStateError } from './session.ts';
import type { EventKind, SessionEvent, SessionEventOf } from './session-event.ts';
import {
  calls,
  finish,
  type ModelStep,
  says,
  scriptedModel,
  textParts,
  toolCall,
} from './testing/scripted-model.ts';
import { temporaryEnvironment } from './testing/temporary-directory.ts';
import { defineTool, type RegisteredTool } from './tools/tool.ts';

/** No waits between retries, but a record of how long they would have been. */
function instantClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  return {
    ...systemClock,
    slept,
    random: () => 0.5,
    sleep: async (milliseconds) => void slept.push(milliseconds),
  };
}

async function startSession(
  steps: readonly ModelStep[],
  options: Partial<SessionOptions> & { tools?: RegisteredTool[] } = {},
) {
  const place = await temporaryEnvironment();
  const model = scriptedModel(steps);
  const profile = createAnthropicProfile({ model: 'fake-1' });
  for (const tool of options.tools ?? []) profile.toolRegistry.register(tool);
  const clock = instantClock();
  const session = new Session({ profile, environment: place.environment, model, clock, ...options });
  const events: SessionEvent[] = [];
  session.on((event) => events.push(event));
  return {
    session,
    model,
    events,
    clock,
    place,
    kinds: () => events.map((event) => event.kind),
    of: <Kind extends EventKind>(kind: Kind) =>
      events.filter((event): event is SessionEventOf<Kind> => event.kind === kind),
    [Symbol.asyncDispose]: async () => {
      await session.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

function customTool(
  name: string,
  executor: RegisteredTool['executor'],
  traits: Partial<RegisteredTool> = {},
): RegisteredTool {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
  return defineTool({ definition: { name, description: name, parameters }, executor, ...traits });
}

test('a text-only answer completes the input', async () => {
  await using run = await startSession([says('hello')]);
  const result = await run.session.submit('hi');
  expect(result).toMatchObject({
    reason: 'completed',
    text: 'hello',
    modelCalls: 1,
    toolRounds: 0,
    queued: 0,
  });
  expect(result.usage).toEqual({ inputTokens: 8, outputTokens: 5, cacheReadTokens: 2 });
  expect(run.kinds()).toEqual([
    'SESSION_START',
    'USER_INPUT',
    'LLM_CALL_START',
    'ASSISTANT_TEXT_START',
    'ASSISTANT_TEXT_DELTA',
    'ASSISTANT_TEXT_END',
    'LLM_CALL_END',
    'PROCESSING_END',
  ]);
  expect(run.session.state).toBe('IDLE');
});

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

test('several inputs, one after the other, share the history', async () => {
  await using run = await startSession([says('one'), says('two')]);
  await run.session.submit('first');
  await run.session.submit('second');
  const messages = run.model.requests[1]?.prompt.map((message) => message.role);
  expect(messages).toEqual(['system', 'user', 'user', 'assistant', 'user']);
  expect(run.of('PROCESSING_END')).toHaveLength(2);
});

test('shared calls of one response run at the same time, exclusive ones alone', async () => {
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

test('steering arrives after the round, and also when it comes during the last call', async () => {
  let session: Session | undefined;
  await using run = await startSession([
    () => {
      session?.steer('use tabs');
      return calls(toolCall('glob', { pattern: '*' }));
    },
    () => {
      session?.steer('and stop');
      return says('done?');
    },
    says('stopped'),
  ]);
  session = run.session;
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'stopped' });
  expect(run.session.history.map((turn) => turn.kind)).toEqual([
    ...['user', 'assistant', 'tool_results', 'steering', 'assistant', 'steering', 'assistant'],
  ]);
  expect(run.model.requests[1]?.prompt.at(-1)).toMatchObject({
    role: 'user',
    content: [{ text: 'use tabs' }],
  });
  expect(run.of('STEERING_INJECTED')).toHaveLength(2);
});

test('steering while idle waits for the next input', async () => {
  await using run = await startSession([says('ok')]);
  run.session.steer('be brief');
  await run.session.submit('hi');
  expect(run.session.history.map((turn) => turn.kind)).toEqual(['user', 'steering', 'assistant']);
});

test('follow-ups run after a natural completion, within one submit', async () => {
  await using run = await startSession([says('one'), says('two'), says('three')]);
  run.session.followUp('second');
  run.session.followUp('third');
  expect(await run.session.submit('first')).toMatchObject({
    reason: 'completed',
    text: 'three',
    modelCalls: 3,
    queued: 0,
  });
  expect(run.of('PROCESSING_END')).toHaveLength(1);
});

test('follow-ups stay in the queue when a limit ends the input', async () => {
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' }))], {
    config: { maxToolRoundsPerInput: 1 },
  });
  run.session.followUp('later');
  expect(await run.session.submit('first')).toMatchObject({ reason: 'tool_rounds', queued: 1 });
});

test('interrupt stops a command, answers its call and leaves a session that goes on', async () => {
  await using run = await startSession([
    calls(toolCall('shell', { command: 'echo $$ > pid; sleep 60' }), toolCall('glob', { pattern: '*' })),
    says('back'),
  ]);
  const submitted = run.session.submit('go');
  await vi.waitUntil(() => existsSync(run.place.path('pid')), { timeout: 10_000 });
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.session.state).toBe('IDLE');
  const results = run.session.history.find((turn) => turn.kind === 'tool_results')?.results ?? [];
  expect(results.map((result) => result.isError)).toEqual([true, true]);
  expect(results[0]?.content).toMatch(/^Aborted by the user after \d+\.\d s\./);
  expect(results[1]?.content).toMatch(/^Not run: the user interrupted/);
  expect(await run.session.submit('again')).toMatchObject({ reason: 'completed', text: 'back' });
});

test('interrupt during a model call drops the half turn', async () => {
  let reached: (() => void) | undefined;
  const streaming = new Promise<void>((resolve) => {
    reached = resolve;
  });
  await using run = await startSession([
    () => {
      reached?.();
      return new Promise<never>(() => {});
    },
    says('fresh'),
  ]);
  const submitted = run.session.submit('go');
  await streaming;
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted', modelCalls: 0 });
  expect(run.of('LLM_CALL_END')[0]?.data.error?.code).toBe('aborted');
  expect(run.session.history.map((turn) => turn.kind)).toEqual(['user']);
  expect(await run.session.submit('again')).toMatchObject({ text: 'fresh' });
});

test('the abort signal closes the session', async () => {
  const controller = new AbortController();
  await using run = await startSession([calls(toolCall('shell', { command: 'touch started; sleep 60' }))], {
    signal: controller.signal,
  });
  const submitted = run.session.submit('go');
  await vi.waitUntil(() => existsSync(run.place.path('started')), { timeout: 10_000 });
  controller.abort();
  expect(await submitted).toMatchObject({ reason: 'aborted' });
  await run.session.close();
  expect(run.session.state).toBe('CLOSED');
  expect(run.kinds().slice(-2)).toEqual(['PROCESSING_END', 'SESSION_END']);
  expect(run.of('SESSION_END')[0]?.data.reason).toBe('aborted');
});

test('close is idempotent, and a closed session refuses work', async () => {
  await using run = await startSession([]);
  await Promise.all([run.session.close(), run.session.close()]);
  expect(run.of('SESSION_END')).toHaveLength(1);
  await expect(run.session.submit('hi')).rejects.toThrow(SessionStateError);
  expect(() => run.session.steer('hi')).toThrow(SessionStateError);
});

test('submit refuses a second input while it works, and an empty one', async () => {
  await using run = await startSession([says('ok')]);
  const first = run.session.submit('hi');
  await expect(run.session.submit('ho')).rejects.toThrow(/use steer\(\) or followUp\(\)/);
  await first;
  await expect(run.session.submit('  ')).rejects.toThrow(TypeError);
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

test('a passing failure is tried again, with growing waits, and what was streamed is discarded', async () => {
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
  expect(run.of('WARNING').map((event) => event.data.data?.error)).toEqual(['server', 'stream']);
  expect(run.of('ASSISTANT_TEXT_END').map((event) => event.data.discarded)).toEqual([true, undefined]);
  expect(run.of('LLM_CALL_END')[0]?.data.retries).toBe(2);
});

test('Retry-After is honoured up to a minute, and surfaces beyond', async () => {
  await using run = await startSession([apiError(429, 'slow down', { 'retry-after': '7' }), says('ok')]);
  await run.session.submit('hi');
  expect(run.clock.slept).toEqual([7000]);
  await using late = await startSession([apiError(429, 'slow down', { 'retry-after': '3600' })]);
  expect(await late.session.submit('hi')).toMatchObject({ reason: 'error', error: { code: 'rate_limit' } });
});

test('after the last retry the input ends with the error, and the session stays usable', async () => {
  await using run = await startSession([
    apiError(500, 'a'),
    apiError(500, 'b'),
    apiError(500, 'c'),
    says('ok'),
  ]);
  const result = await run.session.submit('hi');
  expect(result).toMatchObject({ reason: 'error', error: { code: 'server' } });
  expect(run.of('ERROR')).toHaveLength(1);
  expect(await run.session.submit('hi')).toMatchObject({ text: 'ok' });
});

test('a refused key closes the session at once, and appears nowhere', async () => {
  await using run = await startSession([apiError(401, 'Incorrect API key provided: sk-abcdef1234567890')]);
  const result = await run.session.submit('hi');
  expect(result).toMatchObject({ reason: 'error', error: { code: 'authentication' } });
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
  expect(run.of('WARNING')[0]?.data.code).toBe('context_overflow');
  expect(run.session.state).toBe('IDLE');
});

test('context usage above 80 % is announced once an input', async () => {
  const profile = createAnthropicProfile({ model: 'fake-1', contextWindowSize: 100 });
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' })), says('ok')], { profile });
  await run.session.submit('hi');
  expect(run.of('WARNING').filter((event) => event.data.code === 'context_usage')).toHaveLength(1);
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
  expect(run.of('WARNING')[0]?.data.code).toBe('truncated_response');
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

test('an error part in front of a normal finish is no failure', async () => {
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

test('loop detection sees through key order, and leaves polling and different calls alone', async () => {
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

test('a tool that ignores the abort is left behind and its call answered', async () => {
  const started = Promise.withResolvers<void>();
  const deaf = customTool('deaf', () => {
    started.resolve();
    return new Promise(() => {});
  });
  await using run = await startSession([calls(toolCall('deaf', {}))], { tools: [deaf] });
  const submitted = run.session.submit('go');
  await started.promise;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const interrupted = run.session.interrupt();
    await vi.advanceTimersByTimeAsync(5_000);
    await interrupted;
  } finally {
    vi.useRealTimers();
  }
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.session.history.at(-1)?.kind).toBe('tool_results');
});

test('reasoning effort and model change from the next call on', async () => {
  await using run = await startSession([says('a'), says('b')]);
  await run.session.submit('one');
  run.session.setReasoningEffort('high');
  await run.session.submit('two');
  expect(run.model.requests.map((request) => request.reasoning)).toEqual([undefined, 'high']);
  const other = scriptedModel([says('other')], 'openai.responses');
  run.session.setModel(other);
  expect(await run.session.submit('three')).toMatchObject({ text: 'other' });
  expect(other.requests[0]?.prompt.map((message) => message.role)).toEqual([
    ...['system', 'user', 'user', 'assistant', 'user', 'assistant', 'user'],
  ]);
});

test('prices add up', async () => {
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' })), says('ok')], {
    priceOf: ({ usage }) => usage.outputTokens / 1000,
  });
  expect(await run.session.submit('go')).toMatchObject({ costUsd: 0.01 });
});

test('a snapshot restores the conversation and sends the same bytes', async () => {
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' })), says('ok'), says('more')]);
  await run.session.submit('go');
  const snapshot = JSON.parse(JSON.stringify(await run.session.snapshot()));
  await run.session.submit('next');
  const model = scriptedModel([says('more')]);
  await using restored = Session.restore(snapshot, {
    profile: createAnthropicProfile({ model: 'fake-1' }),
    environment: run.place.environment,
    model,
  });
  await restored.submit('next');
  expect(JSON.stringify(model.requests[0]?.prompt)).toBe(JSON.stringify(run.model.requests[2]?.prompt));
  expect(() =>
    Session.restore(
      { version: 2 },
      { profile: createAnthropicProfile({ model: 'x' }), environment: run.place.environment, model },
    ),
  ).toThrow(/version 1/);
});

test('the system prompt has the project instructions and ends with the user instructions', async () => {
  await using run = await startSession([says('ok')], { userInstructions: 'Answer in French.' });
  await writeFile(run.place.path('AGENTS.md'), 'Use tabs.');
  await writeFile(run.place.path('CLAUDE.md'), 'Prefer small files.');
  await writeFile(run.place.path('GEMINI.md'), 'Not for you.');
  await run.session.submit('hi');
  const [system, first] = run.model.requests[0]?.prompt ?? [];
  expect(system?.content).toMatch(/Use tabs\.[\s\S]*Prefer small files\.[\s\S]*Answer in French\.$/);
  expect(system?.content).not.toContain('Not for you');
  expect(JSON.stringify(first)).toContain(`Working directory: ${run.place.directory}`);
});
