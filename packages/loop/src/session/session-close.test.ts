import { expect, test, vi } from 'vitest';
import { calls, type ModelStep, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { markProcesses } from '../environment/__fixtures__/marked-processes.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';

const bash = (more: object = {}) => toolCall('Bash', { command: 'sleep 300', ...more });

/** One command runs in the background, one in a subagent, and then one in the session itself. */
const busyStep: ModelStep = ({ prompt }) => {
  if (prompt.some(({ role }) => role === 'tool') || JSON.stringify(prompt).includes('"child"'))
    return calls(bash());
  const child = { description: 'd', prompt: 'child', run_in_background: true };
  return calls(bash({ run_in_background: true }), toolCall('Agent', child));
};

/** A session with all that at work, on an environment that it does not own. */
async function busySession() {
  const mark = markProcesses();
  const environment = new LocalExecutionEnvironment({ env: mark.env });
  const profile = createAnthropicProfile({ model: 'fake-1', toolSet: 'native' });
  const run = await startSession([busyStep, busyStep, busyStep], { profile, environment });
  const submitted = run.session.submit('go');
  await mark.running(3);
  const end = async () => {
    await mark[Symbol.asyncDispose]();
    await run[Symbol.asyncDispose]();
    await environment.cleanup();
  };
  return { ...run, mark, submitted, [Symbol.asyncDispose]: end };
}

const onLinux = test.runIf(process.platform === 'linux');

onLinux(
  'close, any number of times at once, ends a running call, a subagent and a background command',
  { tags: 'linux' },
  async () => {
    await using run = await busySession();
    const iterated: SessionEvent[] = [];
    const iteration = (async () => {
      for await (const event of run.session.events()) iterated.push(event);
    })();
    const closes = [run.session.close(), run.session.close()];
    const late = vi.waitUntil(() => run.of('TOOL_CALL_END').some(({ data }) => data.status === 'aborted'), {
      timeout: 30_000,
    });
    closes.push(
      late.then(() => run.session.close()),
      run.session[Symbol.asyncDispose](),
    );
    await Promise.all(closes);
    expect(await run.mark.left()).toEqual(new Map());
    expect(run.session.state).toBe('CLOSED');
    expect(await run.submitted).toMatchObject({ reason: 'aborted' });
    const ends = run.of('SESSION_END').map(({ sessionId }) => sessionId === run.session.id);
    expect(ends).toEqual([false, true]);
    expect(run.of('SUBAGENT_END').map(({ data }) => data.status)).toEqual(['ABORTED']);
    expect(run.session.history.at(-1)?.kind).toBe('tool_results');
    const told = run.events.length;
    await run.session.close();
    expect(run.events).toHaveLength(told);
    await iteration;
    expect(iterated.at(-1)).toMatchObject({ kind: 'SESSION_END', sessionId: run.session.id });
  },
);

onLinux(
  'an exception in the scope of a session closes it before anyone hears of the exception',
  { tags: 'linux' },
  async () => {
    await using busy = await busySession();
    const events: SessionEvent[] = [];
    const work = async () => {
      await using session = busy.session;
      session.on((event) => events.push(event));
      throw new Error('the host has a fault');
    };
    await expect(work()).rejects.toThrow('the host has a fault');
    expect(busy.session.state).toBe('CLOSED');
    expect(events.at(-1)).toMatchObject({ kind: 'SESSION_END', data: { reason: 'closed', state: 'CLOSED' } });
    expect(await busy.mark.left()).toEqual(new Map());
  },
);

onLinux(
  'close ends what a finished command has left behind, and nothing of another session on the same environment',
  { tags: 'linux' },
  async () => {
    await using mark = markProcesses();
    await using environment = new LocalExecutionEnvironment({ env: mark.env });
    const jobs = () =>
      startSession([calls(toolCall('shell', { command: 'sleep 300 & echo' }))], { environment });
    await using first = await jobs();
    await using second = await jobs();
    await Promise.all([first.session.submit('go'), second.session.submit('go')]);
    await mark.running(2);
    await first.session.close();
    expect((await mark.left()).size).toBe(1);
    await second.session.close();
    expect((await mark.left()).size).toBe(0);
  },
);
