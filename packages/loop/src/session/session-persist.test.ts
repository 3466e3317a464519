import { expect, test } from 'vitest';
import { says } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { LlmError } from '../llm/llm-error.ts';
import type { Session } from './session.ts';

/** A session whose `persist` does this with it, after it has waited for something else. */
async function sessionThatPersistsBy(act: (session: Session) => Promise<void>, steps = [says('one')]) {
  let session: Session | undefined;
  let calls = 0;
  const run = await startSession(steps, {
    persist: async () => {
      calls += 1;
      await Promise.resolve();
      if (session) await act(session);
    },
  });
  session = run.session;
  return Object.assign(run, { persisted: () => calls });
}

test('a persist that interrupts its session lets submit return, and the session goes on', async () => {
  await using run = await sessionThatPersistsBy((session) => session.interrupt());
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'one' });
  expect(await run.session.submit('on')).toMatchObject({ reason: 'completed', text: 'done' });
  expect(run.session.state).toBe('IDLE');
});

test('a persist that closes its session lets submit return, and the session ends after it', async () => {
  await using run = await sessionThatPersistsBy((session) => session.close());
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'one' });
  await run.session.close();
  expect(run.session.state).toBe('CLOSED');
  expect(run.of('SESSION_END')).toHaveLength(1);
  expect(run.of('ERROR')).toEqual([]);
  expect(run.persisted()).toBe(2);
});

test('a persist that closes a session whose key was refused does not keep it from ending', async () => {
  await using run = await sessionThatPersistsBy((session) => session.close(), [
    new LlmError('model-authentication-failed', 'wrong key'),
  ] as never);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'error' });
  await run.session.close();
  expect(run.of('SESSION_END')).toHaveLength(1);
});

test('a close that runs after persist has returned waits for the end of the session', async () => {
  const submitted = Promise.withResolvers<void>();
  let later: Promise<string> | undefined;
  await using run = await sessionThatPersistsBy(async (session) => {
    later ??= submitted.promise.then(async () => {
      await session.close();
      return session.state;
    });
  });
  await run.session.submit('go');
  submitted.resolve();
  expect(await later).toBe('CLOSED');
});

test('close waits for a persist that runs, before it persists once more', async () => {
  const reached = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const order: string[] = [];
  await using run = await startSession([says('one')], {
    persist: async () => {
      order.push('begins');
      reached.resolve();
      await written.promise;
      order.push('ends');
    },
  });
  const submitted = run.session.submit('go');
  await reached.promise;
  const closed = run.session.close();
  written.resolve();
  await Promise.all([submitted, closed]);
  expect(order).toEqual(['begins', 'ends', 'begins', 'ends']);
});
