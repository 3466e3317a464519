import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { calls, says, scriptedModel, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { Session } from './session.ts';
import { SessionStateError } from './session-options.ts';

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

test('several inputs, one after the other, share the history', async () => {
  await using run = await startSession([says('one'), says('two')]);
  await run.session.submit('first');
  await run.session.submit('second');
  const messages = run.model.requests[1]?.prompt.map((message) => message.role);
  expect(messages).toEqual(['system', 'user', 'user', 'assistant', 'user']);
  expect(run.of('PROCESSING_END')).toHaveLength(2);
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

test('interrupt stops a command, answers its call and leaves the session usable', async () => {
  await using run = await startSession([
    calls(toolCall('shell', { command: 'echo $$ > pid; sleep 60' }), toolCall('glob', { pattern: '*' })),
    says('back'),
  ]);
  const submitted = run.session.submit('go');
  await vi.waitUntil(() => existsSync(run.place.path('pid')), { timeout: 30_000 });
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
  expect(run.of('LLM_CALL_END')[0]?.data.error?.code).toBe('model-call-aborted');
  expect(run.session.history.map((turn) => turn.kind)).toEqual(['user']);
  expect(await run.session.submit('again')).toMatchObject({ text: 'fresh' });
});

test('the abort signal closes the session', async () => {
  const controller = new AbortController();
  await using run = await startSession([calls(toolCall('shell', { command: 'touch started; sleep 60' }))], {
    signal: controller.signal,
  });
  const submitted = run.session.submit('go');
  await vi.waitUntil(() => existsSync(run.place.path('started')), { timeout: 30_000 });
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
  await expect(run.session.submit('ho')).rejects.toThrow(/Use steer\(\) or followUp\(\)/);
  await first;
  await expect(run.session.submit('  ')).rejects.toThrow(TypeError);
});

test('a tool that ignores the abort is abandoned and its call is answered', async () => {
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
