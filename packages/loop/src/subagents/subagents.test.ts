import { mkdir, symlink } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { calls, says, scriptedModel, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { createStreamEventMapper } from '../events/stream-events.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { family, gate, lastResults, spawn, wait, withAgent } from './__fixtures__/family.ts';

test('a subagent works on its own history, and its result comes back through wait', async () => {
  await using run = await startSession(
    family({
      lead: [spawn('child: look'), wait, says('it is fine')],
      child: [calls(toolCall('glob', { pattern: '*' })), says('all is well')],
    }),
    { priceOf: () => 1 },
  );
  const result = await run.session.submit('lead');
  expect(result).toMatchObject({ reason: 'completed', text: 'it is fine', modelCalls: 3, costUsd: 5 });
  expect(result.usage.outputTokens).toBe(25);
  const waited = run.of('TOOL_CALL_END').find((event) => event.data.name === 'wait');
  expect(waited?.data.output).toMatch(/^agent_\w+: COMPLETED \(success: true, turns used: 2\)\nall is well$/);
  expect(run.of('SUBAGENT_START')[0]?.data).toMatchObject({ task: 'child: look', run: 1, model: 'fake-1' });
  expect(run.of('SUBAGENT_END')[0]?.data).toMatchObject({
    status: 'COMPLETED',
    success: true,
    turnsUsed: 2,
    costUsd: 2,
  });
  const agentId = run.of('SUBAGENT_START')[0]?.data.agentId;
  const glob = run.of('TOOL_CALL_START').find((event) => event.data.name === 'glob');
  expect(glob?.subagent).toEqual({ agentId, parentSessionId: run.session.id, depth: 1 });
  expect(glob?.sessionId).not.toBe(run.session.id);
  expect(run.session.history.filter((turn) => turn.kind === 'user')).toHaveLength(1);
});

test('a subagent is not offered the tools to spawn at the greatest depth, and a call is an error', async () => {
  await using run = await startSession(
    family({
      lead: [spawn('child'), wait, says('ok')],
      child: [spawn('grandchild'), says('I tried')],
    }),
  );
  await run.session.submit('lead');
  const offered = run.model.requests.map((request) =>
    request.tools?.some((tool) => tool.name === 'spawn_agent'),
  );
  expect(offered.filter((has) => !has)).toHaveLength(2);
  const refused = run
    .of('TOOL_CALL_END')
    .find((event) => event.subagent && event.data.name === 'spawn_agent');
  expect(refused?.data.output).toMatch(/^Unknown tool: spawn_agent/);

  await using none = await startSession([says('ok')], { config: { maxSubagentDepth: 0 } });
  await none.session.submit('hi');
  expect(JSON.stringify(none.model.requests[0]?.tools)).not.toContain('spawn_agent');
});

test('grandchildren say where they come from, and their use counts for everyone above', async () => {
  await using run = await startSession(
    family({
      lead: [spawn('child'), wait, says('ok')],
      child: [spawn('grandchild'), wait, says('done')],
      grand: [says('deep')],
    }),
    { config: { maxSubagentDepth: 2 } },
  );
  // The task of the grandchild contains "child" too.
  const result = await run.session.submit('lead');
  const depths = new Set(run.events.map((event) => event.subagent?.depth));
  expect([...depths].sort()).toEqual([1, 2, undefined]);
  const [child, grandchild] = run.of('SUBAGENT_START');
  expect(grandchild?.subagent?.agentId).toBe(child?.data.agentId);
  expect(result.usage.outputTokens).toBe(run.model.requests.length * 5);

  const map = createStreamEventMapper();
  const mapped = run.events.flatMap((event: SessionEvent) => map(event));
  const delegations = mapped.filter((event) => event.type === 'subagent.called');
  const spawned = mapped.filter((event) => event.type === 'action.called' && event.name === 'spawn_agent');
  expect(delegations.map(({ callId, parentCallId }) => [callId, parentCallId])).toEqual(
    spawned.map((event) => 'callId' in event && [event.callId, event.parentCallId]),
  );
  const [first, second] = delegations;
  expect([first?.parentCallId, second?.parentCallId]).toEqual([undefined, first?.callId]);
  expect(mapped.findLast(({ type }) => type === 'subagent.completed')).toMatchObject({
    callId: first?.callId,
  });
});

test('turn limits, of the call or of the host, end a subagent', async () => {
  const look = () => calls(toolCall('glob', { pattern: `${Math.random()}` }));
  const scripts = { lead: [spawn('child', { max_turns: 2 }), wait], child: [look, look, look] };
  await using run = await startSession(family(scripts));
  await run.session.submit('lead');
  expect(run.of('SUBAGENT_END')[0]?.data).toMatchObject({ status: 'FAILED', success: false, turnsUsed: 2 });
  expect(run.of('SUBAGENT_END')[0]?.data.output).toMatch(/ended early: turns/);

  const byHost = { lead: [spawn('child'), wait], child: [look, look, look] };
  await using host = await startSession(family(byHost), { subagents: { maxTurns: 1 } });
  await host.session.submit('lead');
  expect(host.of('SUBAGENT_END')[0]?.data.turnsUsed).toBe(1);
});

test('cost limits: of one subagent, and of the whole family', async () => {
  const look = () => calls(toolCall('glob', { pattern: `${Math.random()}` }));
  const scripts = () =>
    family({ lead: [spawn('child'), wait, says('end')], child: [look, look, look, look] });
  await using each = await startSession(scripts(), { priceOf: () => 1, subagents: { costUsd: 2 } });
  expect(await each.session.submit('lead')).toMatchObject({ reason: 'completed', costUsd: 5 });
  expect(each.of('SUBAGENT_END')[0]?.data).toMatchObject({ turnsUsed: 2, status: 'FAILED' });

  await using all = await startSession(scripts(), { priceOf: () => 1, budget: { costUsd: 4 } });
  expect(await all.session.submit('lead')).toMatchObject({ reason: 'cost', costUsd: 4 });
});

test('the working folder has to lie inside, once links are resolved', async () => {
  await using run = await startSession(
    family({
      lead: [
        calls(
          toolCall('spawn_agent', { task: 'a', working_dir: '..' }),
          toolCall('spawn_agent', { task: 'b', working_dir: 'out' }),
          toolCall('spawn_agent', { task: 'c', working_dir: 'nowhere' }),
          toolCall('spawn_agent', { task: 'child', working_dir: 'sub' }),
        ),
        wait,
        says('ok'),
      ],
      child: [
        calls(
          toolCall('shell', { command: 'pwd' }),
          toolCall('write_file', { file_path: 'x', content: '1' }),
        ),
      ],
    }),
  );
  await mkdir(run.place.path('sub'));
  await symlink('/', run.place.path('out'));
  await run.session.submit('lead');
  const outputs = run.of('TOOL_CALL_END').map((event) => event.data.output);
  expect(outputs.filter((output) => /is outside .+ work inside it/.test(output))).toHaveLength(2);
  expect(outputs.some((output) => /nowhere is not a folder/.test(output))).toBe(true);
  expect(outputs.some((output) => output.endsWith(`\n${run.place.directory}/sub`))).toBe(true);
  expect(await run.place.environment.stat('sub/x')).toMatchObject({ kind: 'file' });
});

test('subagents inherit the approval hook and the hooks around tools', async () => {
  const asked: string[] = [];
  await using run = await startSession(
    family({
      lead: [spawn('child'), wait, says('ok')],
      child: [
        calls(toolCall('shell', { command: 'echo secret-1' }), toolCall('glob', { pattern: '*' })),
        says('x'),
      ],
    }),
    {
      approve: ({ name, sessionId }) => {
        asked.push(`${name}:${sessionId === run.session.id ? 'parent' : 'child'}`);
        return name === 'glob' ? { decision: 'parked' } : { decision: 'approved' };
      },
      hooks: { afterTool: ({ content }) => ({ content: String(content).replaceAll('secret-1', '***') }) },
    },
  );
  await run.session.submit('lead');
  // Parent and child run at once.
  const askedBy = (who: string) => asked.filter((call) => call.endsWith(who));
  expect(askedBy('parent')).toEqual(['spawn_agent:parent', 'wait:parent']);
  expect(askedBy('child')).toEqual(['shell:child', 'glob:child']);
  const ends = run.of('TOOL_CALL_END').filter((event) => event.subagent);
  expect(ends[0]?.data.output).toContain('***');
  expect(ends[1]?.data).toMatchObject({ status: 'rejected' });
  expect(ends[1]?.data.output).toMatch(/cannot wait for a decision/);
});

test('wait ends early when the user writes', async () => {
  const held = gate();
  await using run = await startSession(
    family({ lead: [spawn('child'), wait, says('I heard you')], child: [calls(toolCall('hold', {}))] }),
    { tools: [held.tool] },
  );
  const submitted = run.session.submit('lead');
  await held.reached;
  await vi.waitUntil(() => run.of('TOOL_CALL_START').some((event) => event.data.name === 'wait'), {
    timeout: 30_000,
  });
  run.session.steer('never mind');
  const result = await submitted;
  expect(result).toMatchObject({ reason: 'completed', text: 'I heard you' });
  expect(result.runningSubagents).toHaveLength(1);
  const waited = run.of('TOOL_CALL_END').find((event) => event.data.name === 'wait');
  expect(waited?.data.output).toMatch(/ended early, because the user has written[\s\S]*RUNNING/);
});

test('wait ends with the time, and waits for several', async () => {
  const held = gate();
  const quickEnded = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  await using run = await startSession(
    family({
      lead: [
        calls(toolCall('spawn_agent', { task: 'child' }), toolCall('spawn_agent', { task: 'quick' })),
        async (options) => {
          await quickEnded.promise;
          const ids = lastResults(options).match(/agent_[0-9a-f]{8}/g) ?? [];
          vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
          return calls(toolCall('wait', { agent_ids: ids, timeout_ms: 10_000 }));
        },
        says('enough'),
      ],
      child: [calls(toolCall('hold', {}))],
      quick: [says('here already')],
    }),
    { tools: [held.tool] },
  );
  run.session.on((event) => {
    if (event.kind === 'SUBAGENT_END') quickEnded.resolve();
    if (event.kind === 'TOOL_CALL_START' && event.data.name === 'wait') waiting.resolve();
  });
  const submitted = run.session.submit('lead');
  try {
    await waiting.promise;
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(10_000);
  } finally {
    vi.useRealTimers();
  }
  await submitted;
  const waited = run.of('TOOL_CALL_END').find((event) => event.data.name === 'wait');
  expect(waited?.data.output).toMatch(/The time is over/);
  expect(waited?.data.output).toMatch(/RUNNING/);
  expect(waited?.data.output).toMatch(/COMPLETED .*\nhere already/);
});

test('send_input gives a finished agent a new task, steers a running one, and can redirect it', async () => {
  const held = gate();
  await using run = await startSession(
    family({
      lead: [
        spawn('child'),
        wait,
        withAgent((agent_id) => calls(toolCall('send_input', { agent_id, message: 'again' }))),
        withAgent((agent_id) => calls(toolCall('send_input', { agent_id, message: 'hint' }))),
        withAgent((agent_id) =>
          calls(toolCall('send_input', { agent_id, message: 'this instead', interrupt: true })),
        ),
        wait,
        says('ok'),
      ],
      child: [says('first'), calls(toolCall('hold', {})), says('redirected')],
    }),
    {
      tools: [held.tool],
      hooks: {
        // The second message of the parent finds the child at work.
        beforeTool: async ({ name, args }) => {
          if (name === 'send_input' && args.message !== 'again') await held.reached;
          return undefined;
        },
      },
    },
  );
  expect(await run.session.submit('lead')).toMatchObject({ text: 'ok' });
  expect(run.of('SUBAGENT_START').map((event) => [event.data.run, event.data.task])).toEqual([
    [1, 'child'],
    [2, 'again'],
    [3, 'this instead'],
  ]);
  expect(run.of('SUBAGENT_END').map((event) => event.data.status)).toEqual([
    'COMPLETED',
    'ABORTED',
    'COMPLETED',
  ]);
  expect(run.of('SUBAGENT_END')[2]?.data.output).toBe('redirected');
  expect(run.of('STEERING_INJECTED').some((event) => event.subagent && event.data.content === 'hint')).toBe(
    true,
  );
});

test('close_agent ends one, closing the session ends all, and nothing of them comes after SESSION_END', async () => {
  const held = gate();
  const busy = [calls(toolCall('hold', {}))];
  await using run = await startSession(
    family({
      lead: [
        spawn('child'),
        withAgent((agent_id) => calls(toolCall('close_agent', { agent_id }))),
        withAgent((agent_id) => calls(toolCall('send_input', { agent_id, message: 'hello?' }))),
        calls(toolCall('spawn_agent', { task: 'busy one' }), toolCall('spawn_agent', { task: 'busy two' })),
        says('I leave them to it'),
      ],
      child: busy,
      'busy one': busy,
      'busy two': busy,
    }),
    { tools: [held.tool] },
  );
  const result = await run.session.submit('lead');
  expect(result.runningSubagents).toHaveLength(2);
  const closed = run.of('TOOL_CALL_END').find((event) => event.data.name === 'close_agent');
  expect(closed?.data.output).toMatch(/^Closed agent_\w+\. It was RUNNING\.$/);
  const sent = run.of('TOOL_CALL_END').find((event) => event.data.name === 'send_input');
  expect(sent?.data).toMatchObject({ isError: true });
  await run.session.close();
  expect(run.of('SUBAGENT_END').map((event) => event.data.status)).toEqual(['ABORTED', 'ABORTED', 'ABORTED']);
  expect(run.of('SESSION_END')).toHaveLength(4);
  expect(run.events.at(-1)).toMatchObject({ kind: 'SESSION_END', sessionId: run.session.id });
});

test('interrupt stops the subagents too', async () => {
  const held = gate();
  await using run = await startSession(
    family({ lead: [spawn('child'), wait], child: [calls(toolCall('hold', {}))] }),
    { tools: [held.tool] },
  );
  const submitted = run.session.submit('lead');
  await held.reached;
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.of('SUBAGENT_END')[0]?.data.status).toBe('ABORTED');
});

test('no more agents work at a time than the host allows', async () => {
  const held = gate();
  await using run = await startSession(
    family({
      lead: [calls(toolCall('spawn_agent', { task: 'one' }), toolCall('spawn_agent', { task: 'two' }))],
      one: [calls(toolCall('hold', {}))],
    }),
    { tools: [held.tool], subagents: { maxRunning: 1 } },
  );
  await run.session.submit('lead');
  const spawned = run.of('TOOL_CALL_END').filter((event) => event.data.name === 'spawn_agent');
  expect(spawned.map((event) => event.data.isError).sort()).toEqual([false, true]);
});

test('another model comes from the host, with its provider’s profile', async () => {
  const other = scriptedModel([says('from elsewhere')], 'openai.responses');
  const profile = createOpenAiProfile({ model: 'other-1' });
  await using run = await startSession(
    family({
      lead: [spawn('child', { model: 'other-1' }), wait, spawn('child', { model: 'nope' }), says('ok')],
    }),
    {
      subagents: {
        resolveModel: (name) => {
          if (name !== 'other-1') throw new Error(`There is no model ${name}.`);
          return { model: other, profile };
        },
      },
    },
  );
  await run.session.submit('lead');
  expect(run.of('SUBAGENT_END')[0]?.data.output).toBe('from elsewhere');
  expect(other.requests[0]?.tools?.map((tool) => tool.name)).toContain('apply_patch');
  const last = run.of('TOOL_CALL_END').at(-1);
  expect(last?.data.output).toBe('Tool error (spawn_agent): There is no model nope.');

  // A host in JavaScript may find nothing without a throw: the parent's model is not what was asked for.
  await using none = await startSession(
    family({ lead: [spawn('child', { model: 'nope' }), says('ok')], child: [says('hi')] }),
    { subagents: { resolveModel: () => undefined as never } },
  );
  await none.session.submit('lead');
  expect(none.of('SUBAGENT_START')).toEqual([]);
  expect(none.of('TOOL_CALL_END')[0]?.data.output).toMatch(/Model nope is not available: the host has found/);

  await using plain = await startSession([says('ok')]);
  await plain.session.submit('hi');
  const tool = plain.model.requests[0]?.tools?.find((entry) => entry.name === 'spawn_agent');
  expect(JSON.stringify(tool)).not.toContain('"model"');
});

test.each([
  ['codex', 'spawn_agent', { message: 'child' }, 'wait_agent', (id: string) => ({ targets: [id] })],
  [
    'claude-code',
    'Agent',
    { description: 'd', prompt: 'child', run_in_background: true },
    'TaskOutput',
    (id: string) => ({ task_id: id }),
  ],
] as const)('the native names of %s do the same', async (subagentTools, start, args, join, target) => {
  const { createAnthropicProfile } = await import('../profiles/anthropic-profile.ts');
  const profile = { ...createAnthropicProfile({ model: 'fake-1' }), subagentTools };
  await using run = await startSession(
    family({
      lead: [calls(toolCall(start, args)), withAgent((id) => calls(toolCall(join, target(id)))), says('ok')],
      child: [says('native')],
    }),
    { profile },
  );
  expect(await run.session.submit('lead')).toMatchObject({ text: 'ok' });
  expect(run.of('TOOL_CALL_END').at(-1)?.data.output).toMatch(/COMPLETED[\s\S]*native/);
});

test('Agent returns the report itself', async () => {
  const { createAnthropicProfile } = await import('../profiles/anthropic-profile.ts');
  const profile = { ...createAnthropicProfile({ model: 'fake-1' }), subagentTools: 'claude-code' as const };
  await using run = await startSession(
    family({
      lead: [calls(toolCall('Agent', { description: 'd', prompt: 'child' })), says('ok')],
      child: [says('report')],
    }),
    { profile },
  );
  await run.session.submit('lead');
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(/COMPLETED[\s\S]*report/);
});

test('TaskStop ends agents, and what else the profile ends by that name', async () => {
  const { createAnthropicProfile } = await import('../profiles/anthropic-profile.ts');
  const profile = { ...createAnthropicProfile({ model: 'fake-1' }), subagentTools: 'claude-code' as const };
  profile.toolRegistry.register(customTool('TaskStop', () => 'a shell ended'));
  const held = gate();
  await using run = await startSession(
    family({
      lead: [
        calls(toolCall('Agent', { description: 'd', prompt: 'child', run_in_background: true })),
        withAgent((task_id) =>
          calls(toolCall('TaskStop', { task_id }), toolCall('TaskStop', { task_id: 'shell_1' })),
        ),
        says('ok'),
      ],
      child: [calls(toolCall('hold', {}))],
    }),
    { profile, tools: [] },
  );
  profile.toolRegistry.register(held.tool);
  await run.session.submit('lead');
  const stopped = run.of('TOOL_CALL_END').filter((event) => event.data.name === 'TaskStop');
  expect(stopped.map((event) => event.data.output)).toEqual([
    expect.stringMatching(/^Closed agent_/),
    'a shell ended',
  ]);
});

test('in the shared vocabulary a subagent’s events hang below its call', async () => {
  await using run = await startSession(
    family({
      lead: [spawn('child'), wait, says('end')],
      child: [calls(toolCall('glob', { pattern: '*' }, 'call-x')), says('all is well')],
    }),
  );
  await run.session.submit('lead');
  const map = createStreamEventMapper();
  const mapped = run.events.flatMap((event: SessionEvent) => map(event));
  const { agentId = '', callId } = run.of('SUBAGENT_START')[0]?.data ?? {};
  const delegation = mapped.filter((event) => 'callId' in event && event.callId === callId);
  expect(delegation).toMatchObject([
    { type: 'action.called', name: 'spawn_agent' },
    { type: 'subagent.called', name: agentId },
    { type: 'action.result', status: 'completed' },
    { type: 'subagent.completed', status: 'completed' },
  ]);
  expect(mapped.find((event) => event.type === 'action.called' && event.name === 'glob')).toMatchObject({
    callId: `${agentId}/call-x`,
    parentCallId: callId,
  });
  const texts = mapped.filter((event) => event.type === 'message' && event.role === 'assistant');
  expect(texts.map((event) => event.parentCallId)).toEqual([callId, undefined]);
  expect(mapped.filter((event) => event.type === 'session.started')).toHaveLength(1);
  expect(mapped.filter((event) => event.type === 'usage')).toHaveLength(5);
  expect(mapped.every((event) => event.turn === 0)).toBe(true);
});
