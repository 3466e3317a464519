import { expect, test, vi } from 'vitest';
import {
  calls,
  type ModelStep,
  type ScriptedModel,
  says,
  scriptedModel,
  toolCall,
} from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { Session } from '../session/session.ts';
import type { SessionOptions } from '../session/session-options.ts';
import { family, gate, lastResults, spawn, wait } from './__fixtures__/family.ts';

type Run = Awaited<ReturnType<typeof startSession>>;
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const send = (agent_id: string, message: string) => calls(toolCall('send_input', { agent_id, message }));
const waitFor = (agent_id: string) => calls(toolCall('wait', { agent_id }));
const agentOf = (run: Run) => run.of('SUBAGENT_START')[0]?.data.agentId ?? '';

/** Another session from a snapshot that went through JSON, on the place of a first one. */
function restore(
  run: Run,
  snapshot: SessionSnapshot,
  steps: ModelStep[],
  more: Partial<SessionOptions> = {},
) {
  const model = scriptedModel(steps);
  const { profile, place } = run;
  const options = { profile, environment: place.environment, model, ...more };
  const session = Session.restore(clone(snapshot), options);
  const events: SessionEvent[] = [];
  session.on((event) => events.push(event));
  const outputs = () => events.flatMap(({ kind, data }) => (kind === 'TOOL_CALL_END' ? [data.output] : []));
  return { session, model, events, outputs, [Symbol.asyncDispose]: () => session.close() };
}

test('a restored session waits for its subagents and resumes them, with their own histories', async () => {
  const scripts = { lead: [spawn('child: look'), wait, says('ok')], child: [says('all is well')] };
  await using run = await startSession(family(scripts), { priceOf: () => 1 });
  await run.session.submit('lead');
  const agent = agentOf(run);
  const snapshot = await run.session.snapshot();

  const again = {
    lead: [waitFor(agent), send(agent, 'and now?'), waitFor(agent), says('end')],
    child: [says('still')],
  };
  await using later = restore(run, snapshot, family(again), { priceOf: () => 1 });
  expect(await later.session.submit('go on')).toMatchObject({ text: 'end' });
  const [first, , second] = later.outputs();
  expect(first).toBe(`${agent}: COMPLETED (success: true, turns used: 1)\nall is well`);
  expect(second).toBe(`${agent}: COMPLETED (success: true, turns used: 2)\nstill`);

  // The child sends what it would have sent, and is the same one to whoever listens.
  const ofChild = ({ requests }: ScriptedModel) =>
    requests.find(({ prompt }) => !JSON.stringify(prompt).includes('"lead"'))?.prompt;
  const [before, after] = [run.model, later.model].map(ofChild);
  expect(after?.slice(0, before?.length)).toEqual(before);
  expect(JSON.stringify(after)).toContain('all is well');
  const started = later.events.find((event) => event.kind === 'SUBAGENT_START');
  expect(started?.data).toMatchObject({
    agentId: agent,
    run: 2,
    sessionId: run.of('SUBAGENT_START')[0]?.data.sessionId,
  });
  expect(later.events.find((event) => event.kind === 'SUBAGENT_END')?.data).toMatchObject({ costUsd: 2 });
  const origin = later.events.find((event) => event.subagent)?.subagent;
  expect(origin).toEqual({ agentId: agent, parentSessionId: run.session.id, depth: 1 });
});

test('a subagent that worked when the snapshot was taken is interrupted in it, and resumes when it is asked to', async () => {
  const held = gate();
  await using run = await startSession(
    family({ lead: [spawn('child'), says('I leave it to it')], child: [calls(toolCall('hold', {}, 'c1'))] }),
    { tools: [held.tool], priceOf: () => 1 },
  );
  await run.session.submit('lead');
  await held.reached;
  const agent = agentOf(run);
  const snapshot = await run.session.snapshot();
  expect(snapshot.subagents?.[0]?.report.status).toBe('RUNNING');

  const again = {
    lead: [waitFor(agent), send(agent, 'try again'), waitFor(agent), says('end')],
    child: [says('done')],
  };
  await using later = restore(run, snapshot, family(again), { priceOf: () => 1 });
  expect(await later.session.submit('go on')).toMatchObject({ text: 'end' });
  const [first, , second] = later.outputs();
  expect(first).toMatch(/ABORTED \(success: false, turns used: 1\)\nIt ended early: .*taken while it worked/);
  expect(second).toMatch(/COMPLETED \(success: true, turns used: 2\)\ndone$/);
  const repaired = later.model.requests.find((request) => lastResults(request).includes('"c1"'));
  expect(lastResults(repaired ?? { prompt: [] })).toMatch(/the call was interrupted before it finished/);
  expect(later.events.find((event) => event.kind === 'SUBAGENT_END')?.data).toMatchObject({ costUsd: 2 });
});

test('the end of a session closes no subagent for good; close_agent does', async () => {
  const held = gate();
  const snapshots: SessionSnapshot[] = [];
  await using run = await startSession(
    family({
      lead: [
        calls(toolCall('spawn_agent', { task: 'idle' }), toolCall('spawn_agent', { task: 'closed' })),
        (options) => {
          const [, closed = ''] = lastResults(options).match(/agent_[0-9a-f]{8}/g) ?? [];
          return calls(
            toolCall('close_agent', { agent_id: closed }),
            toolCall('spawn_agent', { task: 'busy' }),
          );
        },
        says('bye'),
      ],
      idle: [says('done')],
      busy: [calls(toolCall('hold', {}))],
    }),
    { tools: [held.tool], persist: (snapshot) => void snapshots.push(clone(snapshot)) },
  );
  await run.session.submit('lead');
  await held.reached;
  await run.session.close();
  const kept = snapshots.at(-1)?.subagents ?? [];
  expect(kept.map(({ report, session }) => [report.status, session !== undefined])).toEqual([
    ['COMPLETED', true],
    ['CLOSED', false],
    ['ABORTED', true],
  ]);
  const [idle = '', closed = ''] = kept.map(({ id }) => id);
  const again = { lead: [send(closed, 'hello?'), waitFor(closed), send(idle, 'more'), says('end')] };
  await using later = restore(run, snapshots.at(-1) as SessionSnapshot, family(again));
  await later.session.submit('go on');
  expect(later.outputs().slice(0, 3)).toEqual([
    `Tool error (send_input): Agent ${closed} is closed.`,
    expect.stringMatching(/CLOSED/),
    `Sent to ${idle}. Status: RUNNING.`,
  ]);
});

test('grandchildren are restored below their parents, and nothing is lost on the way', async () => {
  const config = { maxSubagentDepth: 2 };
  const scripts = {
    lead: [spawn('child', { max_turns: 9 }), wait, says('ok')],
    child: [spawn('deep'), wait, says('done')],
    deep: [says('here')],
  };
  await using run = await startSession(family(scripts), { config });
  await run.session.submit('lead');
  const snapshot = clone(await run.session.snapshot());
  expect(snapshot.subagents?.[0]?.request).toEqual({ maxTurns: 9 });
  const deep = snapshot.subagents?.[0]?.session?.subagents?.[0];
  expect(deep?.report).toMatchObject({ status: 'COMPLETED', output: 'here' });
  await using later = restore(
    run,
    snapshot,
    family({
      lead: [send(agentOf(run), 'ask it'), wait],
      child: [send(deep?.id ?? '', 'well?'), wait, says('b')],
      deep: [says('a')],
    }),
    { config },
  );
  expect(clone(await later.session.snapshot())).toEqual(snapshot);
  await later.session.submit('go on');
  await vi.waitUntil(() => later.events.some(({ kind, subagent }) => kind === 'SUBAGENT_END' && !subagent), {
    timeout: 30_000,
  });
  const depths = later.events.flatMap(({ subagent }) => subagent?.depth ?? []);
  expect(new Set(depths)).toEqual(new Set([1, 2]));
  const again = clone(await later.session.snapshot()).subagents?.[0];
  expect([again?.runs, again?.session?.subagents?.[0]?.runs]).toEqual([2, 2]);
});

test('what cannot be made again is an error that the model reads', async () => {
  const scripts = { lead: [spawn('child', { model: 'other' }), wait, says('ok')], child: [says('a')] };
  await using run = await startSession(family(scripts), {
    subagents: { resolveModel: () => ({ model: scriptedModel([says('a')]) }) },
  });
  await run.session.submit('lead');
  const again = { lead: [send(agentOf(run), 'more'), says('end')] };
  await using later = restore(run, await run.session.snapshot(), family(again));
  expect(await later.session.submit('go on')).toMatchObject({ text: 'end' });
  expect(later.outputs()).toEqual([expect.stringMatching(/Model other is not available/)]);
});

test('a fork leaves the subagents to the session that started them', async () => {
  const scripts = { lead: [spawn('child'), wait, says('ok')], child: [says('a')] };
  await using run = await startSession(family(scripts));
  await run.session.submit('lead');
  await using fork = await run.session.fork();
  const model = scriptedModel([waitFor(agentOf(run)), says('end')]);
  fork.setModel(model);
  await fork.submit('go on');
  expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('There is no agent');
  expect(await fork.snapshot()).not.toHaveProperty('subagents');
});

test('a snapshot of an older version has no subagents, and one with odd ones is refused', async () => {
  await using run = await startSession([says('ok')], { tools: [customTool('x', () => 'x')] });
  await run.session.submit('hi');
  const snapshot = clone(await run.session.snapshot());
  expect(snapshot).not.toHaveProperty('subagents');
  await using later = restore(run, snapshot, [says('still')]);
  expect(await later.session.submit('again')).toMatchObject({ text: 'still' });
  const agent = {
    id: 'a',
    request: {},
    model: 'm',
    workingDirectory: '/',
    runs: 1,
    report: { status: 'CLOSED', usage: {} },
  };
  for (const odd of [
    { ...agent, report: {} },
    { ...agent, session: { version: 1 } },
    { ...agent, runs: '1' },
  ]) {
    const broken = { ...snapshot, subagents: [odd] } as unknown as SessionSnapshot;
    expect(() => restore(run, broken, [])).toThrow(/`subagents` is not what a snapshot holds there/);
  }
});
