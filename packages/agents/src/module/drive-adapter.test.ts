import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import { startAttempt } from '../__fixtures__/attempt.ts';
import {
  type Agent,
  type AgentContext,
  defineAgent,
  defineSandboxAgent,
  type HasCapability,
  type Sandbox,
  shared,
  type Turn,
} from '../index.ts';
import { driveAdapter } from './drive-adapter.ts';

const completed = (...events: Turn['events']): Turn => ({ events, status: 'completed' });
const input = { text: 'Do it.' };

test("an agent's capabilities are in its type", () => {
  const send = async (): Promise<Turn> => completed();
  const plain = defineAgent({ name: 'plain', send });
  const talking = defineAgent({ name: 'talking', capabilities: { conversation: true }, send });
  const silent = defineAgent({ name: 'silent', capabilities: { conversation: false }, send });
  const coding = defineSandboxAgent({ name: 'coding', capabilities: { toolObservability: true }, send });
  expectTypeOf<HasCapability<typeof plain, 'conversation'>>().toEqualTypeOf<false>();
  expectTypeOf<HasCapability<typeof plain, 'workspace'>>().toEqualTypeOf<false>();
  expectTypeOf<HasCapability<typeof talking, 'conversation'>>().toEqualTypeOf<true>();
  expectTypeOf<HasCapability<typeof silent, 'conversation'>>().toEqualTypeOf<false>();
  expectTypeOf<HasCapability<typeof coding, 'workspace'>>().toEqualTypeOf<true>();
  expectTypeOf<HasCapability<typeof coding, 'toolObservability'>>().toEqualTypeOf<true>();
  expectTypeOf<HasCapability<typeof coding, 'conversation'>>().toEqualTypeOf<false>();
  expectTypeOf<HasCapability<Agent, 'conversation'>>().toEqualTypeOf<false>();
  expectTypeOf(coding).toExtend<Agent>();
  // @ts-expect-error This capability does not exist.
  defineAgent({ name: 'x', capabilities: { telepathy: true }, send });
  // @ts-expect-error A turn has events.
  defineAgent({ name: 'x', send: async () => ({ status: 'completed' }) });
  expectTypeOf<Parameters<Parameters<typeof defineAgent>[0]['send']>[1]>().toEqualTypeOf<AgentContext>();
  defineSandboxAgent({
    name: 'x',
    async send(_, ctx) {
      expectTypeOf(ctx.sandbox).toEqualTypeOf<Sandbox>();
      return completed();
    },
  });
  expect(plain.capabilities).toEqual({});
  expect(coding.capabilities).toEqual({ toolObservability: true, workspace: true });
});

test('each event is emitted once, whether the adapter emits it or returns it', async () => {
  await using attempt = await startAttempt('');
  const agent = defineAgent({
    name: 'mixed',
    async send(_, ctx) {
      const early: Turn['events'][number] = { type: 'thinking', text: 'hm' };
      ctx.emit(early);
      const strange = { type: 'unheard-of', value: 1 } as unknown as Turn['events'][number];
      return completed(early, { type: 'message', role: 'assistant', text: 'done' }, strange);
    },
  });
  const turn = await driveAdapter(agent, input, attempt.context);
  expect(turn.events).toEqual([
    { type: 'thinking', text: 'hm', source: 'agent', at: expect.any(String) },
    { type: 'message', role: 'assistant', text: 'done', source: 'agent', at: expect.any(String) },
    { type: 'raw', native: { type: 'unheard-of', value: 1 }, source: 'agent', at: expect.any(String) },
  ]);
  expect(attempt.emitted).toEqual(turn.events);
  expect(turn.exit).toEqual({ ended: 'exit' });
});

test('a failed turn names its last error', async () => {
  await using attempt = await startAttempt('');
  const agent = defineAgent({
    name: 'failing',
    send: async () => ({ events: [{ type: 'error', message: 'no route' }], status: 'failed' }),
  });
  const turn = await driveAdapter(agent, input, attempt.context);
  expect(turn.exit).toEqual({ ended: 'exit', message: 'no route' });
});

test('a usage that is not valid is kept as a raw event and not counted', async () => {
  await using attempt = await startAttempt('');
  const usage = { inputTokens: 1.5, outputTokens: 2 };
  const agent = defineAgent({ name: 'odd', send: async () => ({ ...completed(), usage }) });
  const turn = await driveAdapter(agent, input, attempt.context);
  expect(turn.usage).toBeUndefined();
  expect(turn.events).toMatchObject([{ type: 'raw', native: { usage } }]);
});

test('events that an adapter emits after its turn are dropped', async () => {
  await using attempt = await startAttempt('');
  const late = Promise.withResolvers<AgentContext['emit']>();
  const agent = defineAgent({
    name: 'late',
    async send(_, ctx) {
      late.resolve(ctx.emit);
      return completed();
    },
  });
  const turn = await driveAdapter(agent, input, attempt.context);
  (await late.promise)({ type: 'thinking', text: 'too late' });
  expect(turn.events).toEqual([]);
  expect(attempt.emitted).toEqual([]);
});

test.each([
  ['nothing', undefined],
  ['no events', { status: 'completed' }],
  ['an unknown status', { events: [], status: 'done' }],
])('%s is not a turn', async (_, value) => {
  await using attempt = await startAttempt('');
  const agent = defineAgent({ name: 'wrong', send: async () => value as Turn });
  await expect(driveAdapter(agent, input, attempt.context)).rejects.toMatchObject({
    code: 'agent-adapter-failed',
  });
});

test('at the time limit a command of the adapter ends, and the adapter may still read a transcript', async () => {
  await using attempt = await startAttempt('', { timeoutMs: 300 });
  const agent = defineSandboxAgent({
    name: 'slow',
    async send(_, { sandbox }) {
      await sandbox.runShell('mkdir ~/logs; echo "{}" > ~/logs/a.jsonl; sleep 600');
      const text = await shared.captureLatestJsonl(sandbox, '~/logs');
      return completed({ type: 'message', role: 'assistant', text });
    },
  });
  const turn = await driveAdapter(agent, input, attempt.context);
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
  expect(turn.events).toMatchObject([
    { type: 'message', text: '{}\n' },
    { type: 'error', source: 'host' },
  ]);
});

test.each([
  ['at the time limit', 50, 'timeout'],
  ['when the run is aborted', 60_000, 'abort'],
])('an adapter that never returns is left behind %s', async (_, timeoutMs, ended) => {
  const run = new AbortController();
  await using attempt = await startAttempt('', { timeoutMs, signal: run.signal });
  const agent = defineAgent({
    name: 'stuck',
    send(_input, ctx) {
      ctx.emit({ type: 'thinking', text: 'for ever' });
      if (ended === 'abort') run.abort();
      return new Promise(() => {});
    },
  });
  const turn = await driveAdapter(agent, input, attempt.context, { graceMs: 50 });
  expect(turn).toMatchObject({ status: 'failed', exit: { ended } });
  expect(turn.events.map(({ type }) => type)).toEqual(['thinking', 'error']);
});

test('an adapter does not start when the run is already aborted', async () => {
  await using attempt = await startAttempt('', { signal: AbortSignal.abort() });
  const agent = defineAgent({ name: 'late', send: () => Promise.reject(new Error('it was started')) });
  const turn = await driveAdapter(agent, input, attempt.context);
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
});

test('commands get the environment, and the variables of a command override it', async () => {
  await using attempt = await startAttempt('');
  const agent = defineSandboxAgent({
    name: 'env',
    async send(_, { sandbox }) {
      sandbox.setWorkingDirectory('sub');
      await sandbox.runCommand('sh', ['-c', 'echo $A $B > out'], { env: { B: 'own' } });
      return completed();
    },
  });
  await attempt.sandbox.runShell('mkdir sub');
  await driveAdapter(agent, input, attempt.context, { env: { A: 'a', B: 'b' } });
  expect(await readFile(join(attempt.workdir, 'sub/out'), 'utf8')).toBe('a own\n');
});
