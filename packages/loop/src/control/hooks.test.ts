import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import type { Hooks } from './hooks.ts';

const withHooks = (hooks: Hooks) => ({ hooks });

test.concurrent('beforeSubmit replaces an input, blocks one, and sees follow-ups', async () => {
  const seen: unknown[] = [];
  await using run = await startSession(
    [says('a'), says('b')],
    withHooks({
      beforeSubmit: ({ input }) => {
        seen.push(input);
        return input === 'bad' ? { decision: 'block', reason: 'not today' } : { input: `${input}!` };
      },
    }),
  );
  run.session.followUp('then');
  expect(await run.session.submit('first')).toMatchObject({ reason: 'completed', text: 'b' });
  expect(seen).toEqual(['first', 'then']);
  expect(run.of('USER_INPUT').map((event) => event.data.content)).toEqual(['first!', 'then!']);
  const result = await run.session.submit('bad');
  expect(result).toMatchObject({
    reason: 'blocked',
    modelCalls: 0,
    error: { code: 'input-blocked', message: 'not today' },
  });
  expect(run.of('USER_INPUT')).toHaveLength(2);
  expect(run.of('PROCESSING_END')).toHaveLength(2);
});

test.concurrent('beforeTool blocks a call or changes its arguments, which are validated again', async () => {
  const got: unknown[] = [];
  const tool = customTool('take', ({ n }) => {
    got.push(n);
    return 'taken';
  });
  await using run = await startSession(
    [calls(toolCall('take', { n: 1 }), toolCall('take', { n: 2 }), toolCall('take', { n: 3 }))],
    {
      tools: [tool],
      approve: ({ args, input }) => {
        got.push(['asked', args.n, input]);
        return { decision: 'approved' };
      },
      hooks: {
        beforeTool: ({ args }) => {
          if (args.n === 1) return { args: { n: 10 } };
          return args.n === 2 ? { decision: 'block', reason: 'never two' } : { args: { n: 'three' } };
        },
      },
    },
  );
  await run.session.submit('go');
  expect(got).toEqual([['asked', 10, '{"n":1}'], 10]);
  expect(run.of('TOOL_CALL_END').map((event) => event.data.output)).toEqual([
    'taken',
    'Not run: never two',
    expect.stringMatching(/the host changed the arguments, and \/n must be integer/),
  ]);
});

test.concurrent('afterTool replaces a result before it is truncated', async () => {
  await using run = await startSession([calls(toolCall('leak', {}))], {
    tools: [customTool('leak', () => 'key=abc '.repeat(10_000))],
    hooks: {
      afterTool: ({ content }) => ({ content: String(content).replaceAll('abc', '*'), isError: true }),
    },
  });
  await run.session.submit('go');
  expect(JSON.stringify(run.events)).not.toContain('abc');
  expect(JSON.stringify(run.model.requests)).not.toContain('abc');
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ isError: true, outputComplete: true });
});

test.concurrent('beforeStop continues the input, and cannot do so forever', async () => {
  const counts: number[] = [];
  await using run = await startSession(
    [says('done'), says('really done')],
    withHooks({
      beforeStop: ({ continuations }) => {
        counts.push(continuations);
        return continuations === 0 ? { continueWith: 'run the tests first' } : undefined;
      },
    }),
  );
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'really done' });
  expect(counts).toEqual([0, 1]);
  expect(run.of('STEERING_INJECTED')[0]?.data.content).toBe('run the tests first');

  await using stubborn = await startSession([], withHooks({ beforeStop: () => ({ continueWith: 'more' }) }));
  expect(await stubborn.session.submit('go')).toMatchObject({ reason: 'completed', modelCalls: 26 });
  expect(stubborn.of('WARNING').at(-1)?.data.code).toBe('stop-hook');
});

test.concurrent('a hook that throws is reported, and refuses what it guards', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  await using submit = await startSession([says('a')], withHooks({ beforeSubmit: broken }));
  expect(await submit.session.submit('hi')).toMatchObject({ reason: 'blocked', modelCalls: 0 });
  expect(submit.of('ERROR')[0]?.data).toEqual({
    code: 'hook-failed',
    message: 'the hook beforeSubmit failed: broken',
  });

  await using before = await startSession(
    [calls(toolCall('shell', { command: 'touch x' }))],
    withHooks({ beforeTool: broken }),
  );
  await before.session.submit('hi');
  expect(existsSync(before.place.path('x'))).toBe(false);
  expect(before.of('TOOL_CALL_END')[0]?.data.status).toBe('rejected');

  await using after = await startSession(
    [calls(toolCall('shell', { command: 'echo private' }))],
    withHooks({ afterTool: () => Promise.reject(new Error('broken')) }),
  );
  await after.session.submit('hi');
  expect(after.of('TOOL_CALL_END')[0]?.data.output).toMatch(/its result is withheld/);
  expect(after.of('TOOL_CALL_END')[0]?.data.output).not.toContain('private');

  await using stop = await startSession([says('a')], withHooks({ beforeStop: broken }));
  expect(await stop.session.submit('hi')).toMatchObject({ reason: 'completed', text: 'a' });
});

test.concurrent.each<[string, unknown, string]>([
  ['a list of arguments', { args: [1] }, 'args is not an object'],
  ['a text as arguments', { args: '{"n":1}' }, 'args is not an object'],
  ['no arguments', {}, 'args is not an object'],
  ['a decision that there is not', { decision: 'deny' }, 'the decision "deny" is unknown'],
  ['a bare yes', true, 'it returned a value of type boolean'],
])('beforeTool that answers with %s keeps the call from running', async (_, answer, why) => {
  const ran: unknown[] = [];
  await using run = await startSession([calls(toolCall('take', { n: 1 }))], {
    tools: [customTool('take', ({ n }) => `taken ${ran.push(n)}`)],
    hooks: { beforeTool: () => answer as never },
  });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  expect(ran).toEqual([]);
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({
    status: 'rejected',
    isError: true,
    output: expect.stringContaining(`Not run: the hook beforeTool failed: beforeTool: ${why}`),
  });
  expect(run.of('ERROR')[0]?.data.code).toBe('hook-failed');
});

test.concurrent.each<[string, unknown]>([
  ['a bare no', false],
  ['a bare yes', true],
  ['nothing', undefined],
  ['a word', 'denied'],
  ['a decision that there is not', { decision: 'deny' }],
])('approve that answers with %s denies the call, as does resume', async (_, answer) => {
  const ran: unknown[] = [];
  const tools = () => [customTool('take', ({ n }) => `taken ${ran.push(n)}`)];
  await using run = await startSession([calls(toolCall('take', { n: 1 }))], {
    tools: tools(),
    approve: () => answer as never,
  });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(
    /^Not run: the call was denied \(the approval failed: approve: .+ is no decision; give { decision: /,
  );
  expect(run.of('APPROVAL_DECIDED')).toMatchObject([{ data: { decision: 'denied' } }]);
  expect(run.of('ERROR')).toMatchObject([{ data: { code: 'hook-failed' } }]);

  await using parked = await startSession([calls(toolCall('take', { n: 1 }, 'a'))], {
    tools: tools(),
    approve: () => ({ decision: 'parked' }),
  });
  await parked.session.submit('go');
  const resumed = parked.session.resume({ a: answer as never });
  // A call that is named without a decision is a call without one.
  if (answer === undefined) expect(await resumed).toMatchObject({ reason: 'parked' });
  else await expect(resumed).rejects.toThrow(/resume: call a: .+ is no decision/);
  expect(ran).toEqual([]);
});

test.concurrent('a guard that writes into the arguments changes nothing: only what it returns is validated', async () => {
  const got: unknown[] = [];
  const spoil = ({ args }: { args: Record<string, unknown> }) => void Object.assign(args, { n: 'three' });
  await using run = await startSession([calls(toolCall('take', { n: 1 }))], {
    tools: [customTool('take', ({ n }) => `taken ${got.push(n)}`)],
    hooks: { beforeTool: spoil },
    approve: (request) => spoil(request) ?? { decision: 'approved' },
  });
  await run.session.submit('go');
  expect(got).toEqual([1]);
});

test.concurrent('a block without a reason is a block', async () => {
  await using run = await startSession([calls(toolCall('take', { n: 1 }))], {
    tools: [customTool('take', () => 'taken')],
    hooks: { beforeTool: () => ({ decision: 'block' }) as never },
  });
  await run.session.submit('go');
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({
    status: 'rejected',
    output: 'Not run: the host blocked the call',
  });
});

test.concurrent.each<[string, unknown, string]>([
  ['a text instead of a content', 'the key is ***', 'it returned a value of type string'],
  ['a list instead of a content', [{ type: 'text', text: '***' }], 'it returned a list'],
  ['a misspelt content', { contents: '***' }, 'it returned an object with contents'],
  ['a content of another type', { content: 7 }, 'content'],
  ['a part that no model reads', { content: [{ type: 'film', text: '***' }] }, 'content'],
  ['an error that is a text', { isError: 'no' }, 'isError is not true or false'],
])('afterTool that answers with %s withholds the result', async (_, answer, why) => {
  await using run = await startSession([calls(toolCall('leak', {}))], {
    tools: [customTool('leak', () => 'the key is abc')],
    hooks: { afterTool: () => answer as never },
  });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  expect(JSON.stringify(run.model.requests)).not.toContain('abc');
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ status: 'failed', isError: true });
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(
    /its result is withheld: the hook afterTool failed/,
  );
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toContain(why);
});

test.concurrent('afterTool that returns the whole call, nothing or an empty object leaves what it does not change', async () => {
  const answers = [undefined, {}, null];
  await using run = await startSession([calls(...[1, 2, 3, 4].map((n) => toolCall('take', { n })))], {
    tools: [customTool('take', ({ n }) => `taken ${n}`)],
    hooks: {
      afterTool: (call) => (call.args.n === 4 ? { ...call, content: 'seen' } : (answers.pop() as never)),
    },
  });
  await run.session.submit('go');
  const outputs = run.of('TOOL_CALL_END').map(({ data }) => data.output);
  expect(outputs).toEqual(['taken 1', 'taken 2', 'taken 3', 'seen']);
});

test.concurrent('an interrupt does not wait for a hook that never answers', async () => {
  const reached = Promise.withResolvers<void>();
  await using run = await startSession(
    [calls(toolCall('glob', { pattern: '*' }))],
    withHooks({
      beforeTool: () => {
        reached.resolve();
        return new Promise(() => {});
      },
    }),
  );
  const submitted = run.session.submit('go');
  await reached.promise;
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.of('TOOL_CALL_END')).toHaveLength(1);
});
