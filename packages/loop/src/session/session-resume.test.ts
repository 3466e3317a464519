import { writeFile } from 'node:fs/promises';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { calls, finish, says, scriptedModel, textParts, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import { Session } from './session.ts';
import { SessionStateError } from './session-options.ts';

const look = (pattern: string) => calls(toolCall('glob', { pattern }));
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value));

test('a fork continues from an earlier point, with its own history', async () => {
  await using run = await startSession([look('*'), says('one'), says('two'), says('three')]);
  await run.session.submit('first');
  const answer = run.session.history.at(-1);
  await run.session.submit('second');
  await using fork = await run.session.fork(answer?.id);
  expect(fork.id).not.toBe(run.session.id);
  expect(await fork.submit('second')).toMatchObject({ text: 'three' });
  expect(run.model.requests[3]?.prompt).toEqual(run.model.requests[2]?.prompt);
  expect(run.session.history).toHaveLength(6);

  // A fork in the middle of a round takes the results along.
  await using middle = await run.session.fork(2);
  expect(middle.history.map((turn) => turn.kind)).toEqual(['user', 'assistant', 'tool_results']);
  await using start = await run.session.fork(0);
  expect(start.history).toEqual([]);
  await expect(run.session.fork('nowhere')).rejects.toThrow(/there is no turn nowhere/);
  await expect(run.session.fork(7)).rejects.toThrow(RangeError);
});

test('a snapshot keeps what waits: steering, follow-ups and the effort', async () => {
  await using run = await startSession([says('one')]);
  await run.session.submit('first');
  run.session.setReasoningEffort('high');
  run.session.steer('be brief');
  run.session.followUp('and then');
  const model = scriptedModel([says('two'), says('three')]);
  await using restored = Session.restore(clone(await run.session.snapshot()), {
    profile: run.profile,
    environment: run.place.environment,
    model,
  });
  expect(await restored.submit('second')).toMatchObject({ text: 'three' });
  expect(model.requests[0]?.reasoning).toBe('high');
  expect(restored.history.map((turn) => turn.kind)).toEqual([
    ...['user', 'assistant', 'user', 'steering', 'assistant', 'user', 'assistant'],
  ]);
});

test('signatures, encrypted reasoning and item ids are sent again as they came', async () => {
  const signed = [
    { type: 'reasoning-start', id: 'r', providerMetadata: { fake: { itemId: 'rs_1', redactedData: 'x' } } },
    { type: 'reasoning-delta', id: 'r', delta: 'hm ' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { fake: { signature: 's==' } } },
    ...textParts('so', 't'),
    { ...toolCall('glob', '{ "pattern":"*" }'), providerMetadata: { fake: { thoughtSignature: 't' } } },
    finish('tool-calls'),
  ] as ReturnType<typeof says>;
  await using run = await startSession([signed, says('ok'), says('more')]);
  await run.session.submit('go');
  const model = scriptedModel([says('more')]);
  const snapshot = clone(await run.session.snapshot());
  await using restored = Session.restore(snapshot, {
    profile: run.profile,
    environment: run.place.environment,
    model,
  });
  await Promise.all([restored.submit('next'), run.session.submit('next')]);
  expect(JSON.stringify(model.requests[0]?.prompt)).toBe(JSON.stringify(run.model.requests[2]?.prompt));
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain('"signature":"s=="');
});

test.each([
  [{ version: 1, id: 'x', turns: [{ kind: 'user', id: '1', content: 3 }] }, /turns\[0\].content is 3/],
  [{ version: 1, id: 'x', turns: [], parked: { results: 1 } }, /`parked`/],
  [{ version: 1, id: 'x', turns: [], steering: [1] }, /steering\[0\] is 1/],
  [[], /the snapshot is not an object/],
])('what is not a snapshot is refused: %j', async (snapshot, message) => {
  await using run = await startSession([]);
  const options = { profile: run.profile, environment: run.place.environment, model: run.model };
  expect(() => Session.restore(snapshot, options)).toThrow(message);
});

/** A session whose `risky` calls nobody decides about. */
async function parkedRound() {
  const ran: unknown[] = [];
  const tool = (name: string) =>
    customTool(name, ({ n }) => {
      ran.push([name, n]);
      return `${name} ${n}`;
    });
  const snapshots: SessionSnapshot[] = [];
  const run = await startSession(
    [
      calls(
        toolCall('safe', { n: 1 }, 'a'),
        toolCall('risky', '{ "n": 2 }', 'b'),
        toolCall('safe', { n: 3 }, 'c'),
      ),
      says('ok'),
    ],
    {
      tools: [tool('safe'), tool('risky')],
      approve: ({ name }) => ({ decision: name === 'risky' ? 'parked' : 'approved' }),
      persist: (snapshot) => void snapshots.push(clone(snapshot)),
    },
  );
  const result = await run.session.submit('go');
  return { ...run, ran, snapshots, result };
}

test('a parked call ends the input and resumes with the decision, in the order of the calls', async () => {
  const run = await parkedRound();
  await using _end = run;
  expect(run.result).toMatchObject({ reason: 'parked', parked: ['b'], modelCalls: 1 });
  expect(run.session.state).toBe('AWAITING_INPUT');
  expect(run.ran).toEqual([['safe', 1]]);
  await expect(run.session.resume({ c: { decision: 'approved' } })).rejects.toThrow(/c is not parked/);
  expect(await run.session.resume({ b: { decision: 'approved' } })).toMatchObject({
    reason: 'completed',
    text: 'ok',
  });
  expect(run.ran).toEqual([
    ['safe', 1],
    ['risky', 2],
    ['safe', 3],
  ]);
  const turn = run.session.history.find((entry) => entry.kind === 'tool_results');
  expect(turn?.results.map((result) => result.content)).toEqual(['safe 1', 'risky 2', 'safe 3']);
  expect(run.of('TOOL_CALL_START')).toHaveLength(3);
  expect(run.of('TOOL_CALL_END')).toHaveLength(3);
  expect(run.of('APPROVAL_REQUESTED').map((event) => event.data.callId)).toEqual(['a', 'b', 'c']);
  await expect(run.session.resume({})).rejects.toThrow(SessionStateError);
});

test('another process takes the decision, about the arguments byte for byte', async () => {
  const run = await parkedRound();
  await run.session.close();
  expect(run.of('TOOL_CALL_END').map((event) => event.data.status)).toEqual(['completed', 'aborted']);
  const model = scriptedModel([says('later')]);
  const place = { profile: run.profile, environment: run.place.environment, model };
  await using restored = Session.restore(run.snapshots.at(-1), place);
  expect(restored.state).toBe('AWAITING_INPUT');
  const denied = await restored.resume({ b: { decision: 'denied', reason: 'too risky' } });
  expect(denied).toMatchObject({ reason: 'completed', text: 'later' });
  const call = model.requests[0]?.prompt.findLast((message) => message.role === 'assistant')?.content[1];
  expect(call).toMatchObject({ type: 'tool-call', toolCallId: 'b', input: { n: 2 } });
  const results = model.requests[0]?.prompt.findLast((message) => message.role === 'tool')?.content;
  expect(JSON.stringify(results)).toContain('too risky');
  expect(JSON.stringify(results)).toContain('safe 1');
  expect(run.ran).toEqual([
    ['safe', 1],
    ['safe', 3],
  ]);
  await run[Symbol.asyncDispose]();
});

test('a submit without a decision leaves the parked calls undone', async () => {
  const run = await parkedRound();
  await using _end = run;
  expect(await run.session.submit('forget it')).toMatchObject({ reason: 'completed', text: 'ok' });
  expect(run.ran).toEqual([['safe', 1]]);
  expect(run.of('TOOL_CALL_END').map((event) => event.data.status)).toEqual([
    'completed',
    'rejected',
    'rejected',
  ]);

  const interrupted = await parkedRound();
  await using _also = interrupted;
  await interrupted.session.interrupt();
  expect(interrupted.session.state).toBe('IDLE');
  expect(interrupted.session.history.at(-1)?.kind).toBe('tool_results');
});

test('a call is open from its first start to its decision, however often its round is parked', async () => {
  const two = calls(toolCall('risky', { n: 1 }, 'a'), toolCall('risky', { n: 2 }, 'b'));
  const snapshots: SessionSnapshot[] = [];
  const run = await startSession([two], {
    tools: [customTool('risky', ({ n }) => `risky ${n}`)],
    approve: () => ({ decision: 'parked' }),
    // A close and an interrupt at the same time: the round stays as it is, and its events are not reported twice.
    persist: async (snapshot) => {
      snapshots.push(clone(snapshot));
      if (snapshots.length === 3) await run.session.interrupt();
    },
  });
  await using _end = run;
  expect(await run.session.submit('go')).toMatchObject({ reason: 'parked', parked: ['a'] });
  const again = await run.session.resume({ a: { decision: 'denied' } });
  expect(again).toMatchObject({ reason: 'parked', parked: ['b'] });
  await run.session.close();
  expect(run.session.history.at(-1)?.kind).toBe('assistant');
  expect(run.of('TOOL_CALL_START').map((event) => event.data.callId)).toEqual(['a', 'b']);
  expect(run.of('TOOL_CALL_END').map(({ data }) => [data.callId, data.status])).toEqual([
    ['a', 'rejected'],
    ['b', 'aborted'],
  ]);
  expect(snapshots.at(-1)?.parked).toMatchObject({ waiting: ['b'], results: [{ callId: 'a' }] });

  // The restored session has events of its own: what waits starts there when it goes on.
  await using later = Session.restore(snapshots.at(-1), {
    profile: run.profile,
    environment: run.place.environment,
    model: scriptedModel([says('ok')]),
  });
  const told: string[] = [];
  later.on((event) => {
    if (event.kind === 'TOOL_CALL_START' || event.kind === 'TOOL_CALL_END')
      told.push(`${event.kind} ${event.data.callId}`);
  });
  expect(await later.resume({ b: { decision: 'approved' } })).toMatchObject({ reason: 'completed' });
  expect(told).toEqual(['TOOL_CALL_START b', 'TOOL_CALL_END b']);
});

/** A round whose one call is parked after `beforeTool` has changed its arguments. */
async function changedAndParked() {
  const asked: unknown[] = [];
  const ran: unknown[] = [];
  const host = {
    tools: [customTool('risky', ({ n }) => `risky ${ran.push(n)}`)],
    approve: ({ args }: { args: object }) => {
      asked.push(args);
      return { decision: 'parked' as const };
    },
  };
  const hooks = { beforeTool: ({ args }: { args: object }) => ({ args: { n: asked.push(args) * 10 } }) };
  const run = await startSession([calls(toolCall('risky', { n: 1 }, 'a')), says('ok')], { ...host, hooks });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'parked' });
  expect(asked).toEqual([{ n: 1 }, { n: 10 }]);
  return { ...run, asked, ran, hooks };
}

test('beforeTool is called once for a parked call, here and in another process', async () => {
  const run = await changedAndParked();
  await using _end = run;
  const { parkedArguments, ...old } = clone(await run.session.snapshot());
  expect(parkedArguments).toEqual({ a: { n: 10 } });
  // Put off once more, by the approval that is asked again.
  expect(await run.session.resume({})).toMatchObject({ reason: 'parked' });
  const snapshot = clone(await run.session.snapshot());
  expect(await run.session.resume({ a: { decision: 'approved' } })).toMatchObject({ reason: 'completed' });
  expect(run.asked).toEqual([{ n: 1 }, { n: 10 }, { n: 10 }]);

  const { profile, hooks, place } = run;
  const options = { profile, environment: place.environment };
  for (const more of [{ hooks }, {}]) {
    const model = scriptedModel([says('ok')]);
    await using later = Session.restore(snapshot, { ...options, model, ...more });
    expect(await later.resume({ a: { decision: 'approved' } })).toMatchObject({ reason: 'completed' });
  }
  expect(run.ran).toEqual([10, 10, 10]);
  expect(run.asked).toHaveLength(3);

  // A snapshot of an older version does not say what the hook has said.
  await using older = Session.restore(old, { ...options, model: scriptedModel([says('ok')]), hooks });
  await older.resume({ a: { decision: 'approved' } });
  expect(run.asked).toHaveLength(4);
});

test.each([
  ['one after the other', 'exclusive'],
  ['side by side', 'shared'],
] as const)(
  'steering at a tool boundary does not skip a call that the host has just decided about, %s',
  async (_, concurrency) => {
    const ran: unknown[] = [];
    const work = customTool('work', ({ n }) => `work ${ran.push(n)}`, { concurrency });
    await using run = await startSession(
      [calls(...[1, 2, 3].map((n) => toolCall('work', { n }, `call-${n}`))), says('ok')],
      {
        tools: [work],
        config: { steeringMode: 'tool_boundary' },
        approve: ({ args }) => ({ decision: args.n === 3 ? 'approved' : 'parked' }),
      },
    );
    const parked = await run.session.submit('go');
    run.session.steer('leave the rest');
    const waiting = parked.parked ?? [];
    const result = await run.session.resume({ 'call-1': { decision: 'approved' } });
    expect(result).toMatchObject({ reason: 'completed', text: 'ok' });
    // Side by side the third had run before the steering; one after the other it had not begun.
    expect(waiting).toEqual(concurrency === 'shared' ? ['call-1', 'call-2'] : ['call-1']);
    expect(ran).toEqual(concurrency === 'shared' ? [3, 1] : [1]);
    const statuses = new Map(run.of('TOOL_CALL_END').map(({ data }) => [data.callId, data.status]));
    expect(statuses.get('call-1')).toBe('completed');
    expect(statuses.get('call-2')).toBe('skipped');
    expect(statuses.get('call-3')).toBe(concurrency === 'shared' ? 'completed' : 'skipped');
    expect(run.of('STEERING_INJECTED')).toHaveLength(1);
  },
);

const tooLong = () =>
  new APICallError({
    message: 'prompt is too long: 300000 tokens',
    url: 'http://x',
    requestBodyValues: {},
    statusCode: 400,
  });

test('the overflow hook shrinks the history, and the call is made once more', async () => {
  const thinking = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'secret plan' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { fake: { signature: 's' } } },
    ...says('one'),
  ] as ReturnType<typeof says>;
  await using run = await startSession([thinking, tooLong(), says('two')], {
    hooks: { onContextOverflow: ({ turns }) => ({ turns: turns.slice(1) }) },
  });
  await run.session.submit('first');
  expect(await run.session.submit('second')).toMatchObject({ reason: 'completed', text: 'two' });
  expect(run.of('WARNING').map((event) => event.data.code)).toEqual(['context-overflow']);
  expect(run.of('ERROR')).toEqual([]);
  const prompt = JSON.stringify(run.model.requests[2]?.prompt);
  expect(prompt).not.toContain('"first"');
  // A signature is bound to what stood before it.
  expect(prompt).not.toContain('secret plan');

  await using twice = await startSession([tooLong(), tooLong(), says('never')], {
    hooks: { onContextOverflow: ({ turns }) => ({ turns }) },
  });
  expect(await twice.session.submit('go')).toMatchObject({ reason: 'context_overflow' });
  expect(twice.session.state).toBe('IDLE');
  expect(twice.model.requests).toHaveLength(2);

  await using broken = await startSession([tooLong()], {
    hooks: { onContextOverflow: () => ({ turns: [{ kind: 'user', id: '1' }] }) as never },
  });
  expect(await broken.session.submit('go')).toMatchObject({ reason: 'context_overflow' });
  expect(broken.of('ERROR')[0]?.data.message).toContain('onContextOverflow: turns[0].content is missing');
  expect(broken.session.history).toMatchObject([{ content: 'go' }]);
});

test('reasoning that the provider does not take back is left out, once', async () => {
  const thinking = [
    { type: 'reasoning-start', id: 'r', providerMetadata: { fake: { encrypted: 'e' } } },
    { type: 'reasoning-end', id: 'r' },
    ...says('one'),
  ] as ReturnType<typeof says>;
  const refusal = new APICallError({
    message: 'The encrypted content could not be verified (invalid_encrypted_content)',
    url: 'http://x',
    requestBodyValues: {},
    statusCode: 400,
  });
  await using run = await startSession([thinking, refusal, says('two')]);
  await run.session.submit('first');
  expect(await run.session.submit('second')).toMatchObject({ reason: 'completed', text: 'two' });
  expect(run.of('WARNING')[0]?.data.code).toBe('reasoning-dropped');
  expect(JSON.stringify(run.model.requests[1]?.prompt)).toContain('"encrypted":"e"');
  expect(JSON.stringify(run.model.requests[2]?.prompt)).not.toContain('"encrypted"');
});

test('replaceHistory replaces the turns by a summary, only while idle', async () => {
  await using run = await startSession([says('one'), says('two')]);
  await run.session.submit('first');
  const [user] = run.session.history;
  if (user?.kind !== 'user') throw new Error('the first turn is the input');
  run.session.replaceHistory([{ ...user, content: 'summary' }]);
  await run.session.submit('second');
  expect(JSON.stringify(run.model.requests[1]?.prompt)).toMatch(/summary.*second/);
  expect(JSON.stringify(run.model.requests[1]?.prompt)).not.toContain('"first"');
});

test('refreshContext appends a note and leaves what was sent as it was', async () => {
  await using run = await startSession([says('one'), says('two')]);
  await writeFile(run.place.path('AGENTS.md'), 'Use tabs.');
  await run.session.submit('first');
  expect(await run.session.refreshContext()).toBe(false);
  await writeFile(run.place.path('AGENTS.md'), 'Use spaces.');
  expect(await run.session.refreshContext()).toBe(true);
  expect(await run.session.refreshContext()).toBe(false);
  await run.session.submit('second');
  const [before, after] = run.model.requests.map((request) => request.prompt);
  expect(after?.slice(0, before?.length)).toEqual(before);
  expect(JSON.stringify(after?.at(-2))).toContain('Use spaces.');
});

test('steering at a tool boundary skips what has not started', async () => {
  const holder: { session?: Session } = {};
  const tool = customTool('step', ({ n }) => {
    if (n === 1) holder.session?.steer('stop that');
    return `step ${n}`;
  });
  const three = () =>
    calls(toolCall('step', { n: 1 }), toolCall('step', { n: 2 }), toolCall('step', { n: 3 }));
  await using run = await startSession([three(), says('ok')], {
    tools: [tool],
    config: { steeringMode: 'tool_boundary' },
  });
  holder.session = run.session;
  await run.session.submit('go');
  expect(run.of('TOOL_CALL_END').map((event) => event.data.status)).toEqual([
    'completed',
    'skipped',
    'skipped',
  ]);
  expect(run.of('TOOL_CALL_END')[1]?.data.output).toMatch(/^Skipped: the user sent a new instruction/);
});

test('a failing persist is reported and changes nothing; a closed session has cleaned up once', async () => {
  const states: string[] = [];
  const model: LanguageModelV4 = scriptedModel([says('one')]);
  await using run = await startSession([], {
    model,
    ownsEnvironment: true,
    persist: () => Promise.reject(new Error('disk full')),
  });
  const { environment } = run.place;
  const cleanup = environment.cleanup.bind(environment);
  environment.cleanup = async () => {
    states.push(`${run.session.state} after ${run.kinds().at(-1)}`);
    await cleanup();
  };
  await run.session.submit('go');
  await run.session.close();
  expect(states).toEqual(['IDLE after SESSION_END']);
  expect(run.session.state).toBe('CLOSED');
  expect(run.of('ERROR').map((event) => event.data.code)).toEqual([
    'session-persist-failed',
    'session-persist-failed',
  ]);
});
