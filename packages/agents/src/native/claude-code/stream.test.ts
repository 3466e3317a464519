import { addUsage, deriveAgentMetadata, replyText, totalTokens } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { linesOf, recordingsOf } from '../__fixtures__/recordings.ts';
import { ClaudeStream } from './stream.ts';

const recorded = recordingsOf('claude-code');
const readItems = (...items: object[]): NativeReading => readNative(new ClaudeStream(), linesOf(...items));

test('each call, file, skill and MCP call of a task is reported once, under the names of the vocabulary', () => {
  const { events, summary } = recorded.stream('task');
  const metadata = deriveAgentMetadata(events);

  expect(summary.ending).toBe('completed');
  expect(metadata.usage).toEqual(summary.usage);
  expect(metadata.commands.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
    ['ls', 'completed', 0],
    ['sh greet.sh; echo oops >&2; exit 3', 'failed', 3],
    ['ls', 'completed', 0],
  ]);
  expect(metadata.fileChanges).toEqual([
    { path: 'greet.sh', change: 'added' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(metadata.skills).toEqual({ confirmed: ['greeting'], attempted: ['no-such-skill'] });
  expect(metadata.mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['clock', 'now', 'completed'],
    ['clock', 'now', 'failed'],
  ]);
  expect(metadata.tools.filter(({ status }) => status === 'pending')).toEqual([]);
  expect(events.findLast(({ type }) => type === 'plan.updated')).toMatchObject({
    steps: [
      { text: 'Write greet.sh', status: 'completed' },
      { text: 'Run it', status: 'pending' },
    ],
  });
  expect(replyText(events)).toBe('I plan.\nI write the file.\nIt says good day now.\nNothing more.');
});

test.each([
  ['in the background', 'task'],
  ['in the foreground', 'foreground-subagent'],
])('a sub-agent %s has its prompt, its calls and its answer', (_, name) => {
  const { events } = recorded.stream(name);
  const called = events.find(({ type }) => type === 'subagent.called');
  const callId = called?.type === 'subagent.called' ? called.callId : '';
  const ofTheCall = events.filter((event) => 'callId' in event && event.callId === callId);
  expect(ofTheCall.filter(({ type }) => type.startsWith('subagent'))).toMatchObject([
    { type: 'subagent.called', name: 'general-purpose' },
    { type: 'subagent.completed', status: 'completed', output: 'There is greet.sh.' },
  ]);
  const childTypes = events.filter(({ parentCallId }) => parentCallId === callId).map(({ type }) => type);
  expect(childTypes).toContain('action.called');
  expect(childTypes).toContain('action.result');
  expect(events.find(({ parentCallId }) => parentCallId === callId)).toMatchObject({
    type: 'message',
    role: 'user',
    text: 'CHILD: list the files.',
  });
});

test('a sub-agent of an unknown kind fails', () => {
  const { events } = recorded.stream('foreground-subagent');
  expect(events.filter(({ type }) => type === 'subagent.completed')).toMatchObject([
    { status: 'failed' },
    { status: 'completed' },
  ]);
});

test.each(recorded.streamNames)('%s: events and summary agree on the usage', (name) => {
  const { events, summary } = recorded.stream(name);
  const usages = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
  const sum = usages.reduce(addUsage, { inputTokens: 0, outputTokens: 0 });
  expect(sum).toMatchObject({ inputTokens: 0, outputTokens: 0, ...summary.usage });
});

test('usage is reported as it streams, and the end adds the usage of sub-agents', () => {
  const { events, summary } = recorded.stream('foreground-subagent');
  const usages = events.flatMap((event) => (event.type === 'usage' ? [totalTokens(event.usage)] : []));
  expect(usages).toEqual([31_535 + 61, 31_874 + 1, 22_114 + 22_635 + 11]);
  expect(summary.usage).toMatchObject({ inputTokens: 108_158, outputTokens: 73 });
});

test('a turn of a resumed session has its own usage and cost, not those of the session', () => {
  const { summary } = recorded.stream('second-turn');
  expect(summary.usage).toMatchObject({ inputTokens: 33_257, outputTokens: 4 });
  expect(summary.costUsd).toBeCloseTo(0.099831, 6);
  expect(summary.metadata).toMatchObject({ 'claude-code': { total_cost_usd: 1.564194 } });
});

test('stream and transcripts report the same usage', () => {
  const inMessages = ['task', 'subagent']
    .map((name) => recorded.transcript(name))
    .flatMap(({ events }) => events)
    .reduce((sum, event) => sum + (event.type === 'usage' ? totalTokens(event.usage) : 0), 0);
  const inStreams = ['task', 'second-turn']
    .map((name) => recorded.stream(name).summary.usage ?? { inputTokens: 0, outputTokens: 0 })
    .reduce((sum, usage) => sum + totalTokens(usage), 0);
  expect(inMessages).toBe(inStreams);
});

test('a refused call has an approval request, a denial and a rejected result', () => {
  const { events, summary } = recorded.stream('denied');
  expect(deriveAgentMetadata(events)).toMatchObject({
    approvals: [{ decision: 'denied' }, { decision: 'denied' }],
    tools: [
      { name: 'Write', status: 'rejected' },
      { name: 'Bash', status: 'rejected' },
    ],
    fileChanges: [],
  });
  expect(summary.ending).toBe('completed');
});

test('a refusal can come only from the result, as before 2.1', () => {
  const denial = { tool_name: 'Write', tool_use_id: 'a', tool_input: {} };
  const { events } = readItems({ type: 'result', subtype: 'success', permission_denials: [denial] });
  expect(events).toEqual([
    { type: 'approval.requested', callId: 'a', name: 'Write' },
    { type: 'approval.decided', callId: 'a', decision: 'denied', by: 'agent' },
  ]);
});

test('a compaction is one event with its summary', () => {
  const { events, summary } = recorded.stream('compaction');
  const compactions = events.filter(({ type }) => type === 'compaction');
  expect(compactions).toMatchObject([{ summary: expect.stringContaining('All done.') }]);
  // The compaction was a model call, too.
  expect(summary.usage).toMatchObject({ inputTokens: 66_450 });
});

test('a compaction without a summary is reported before the next event', () => {
  const { events } = readItems(
    { type: 'system', subtype: 'compact_boundary' },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'On I go.' }] } },
  );
  expect(events).toEqual([{ type: 'compaction' }, { type: 'message', role: 'assistant', text: 'On I go.' }]);
});

test.each([
  ['unauthorized', '401'],
  ['bad-request', '400'],
  ['server-error', '500'],
  ['overloaded', '529'],
  ['connection-reset', 'ECONNRESET'],
  ['no-key', 'Not logged in'],
  ['turn-limit', 'maximum number of turns'],
])('%s: the turn fails with one error in the words of the agent', (name, words) => {
  const { events, summary } = recorded.stream(name);
  expect(summary).toMatchObject({ ending: 'failed', failure: expect.stringContaining(words) });
  const errors = events.filter((event) => event.type === 'error' && event.message === summary.failure);
  expect(errors).toHaveLength(1);
});

test.each(['rate-limit-once', 'truncated-once', 'malformed-call'])('%s: the turn still completes', (name) => {
  const { summary } = recorded.stream(name);
  expect(summary.ending).toBe('completed');
  expect(summary.failure).toBeUndefined();
});

test.each(['hang', 'interrupted'])('%s: the turn has no ending', (name) => {
  expect(recorded.stream(name).summary.ending).toBeUndefined();
});

test('an agent that continues after its result has not ended before the next result', () => {
  const lines = recorded.bytesOf('background-command.stream.jsonl').toString().trimEnd().split('\n');
  const endingOf = (count: number) =>
    readNative(new ClaudeStream(), Buffer.from(lines.slice(0, count).join('\n'))).summary.ending;
  const result = lines.findIndex((line) => line.includes('"type":"result"'));
  expect(endingOf(result + 1)).toBe('completed');
  expect(endingOf(lines.length - 1)).toBeUndefined();
  expect(endingOf(lines.length)).toBe('completed');
});

test('a call that a hook defers leaves the turn waiting, with a question', () => {
  const { events, summary } = recorded.stream('deferred');
  expect(summary.ending).toBe('waiting');
  expect(events.at(-1)).toMatchObject({
    type: 'input.requested',
    request: { kind: 'approval', data: { name: 'Bash', input: { command: 'touch b.txt' } } },
  });
});

test('structured output is data', () => {
  expect(recorded.stream('structured-output').summary.data).toEqual({ answer: 'hi' });
});

test('the plan gets tasks of earlier turns when they are listed and loses deleted tasks', () => {
  const called = (id: string, name: string, input: object) => ({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id, name, input }] },
  });
  const result = (id: string, record: object) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    tool_use_result: record,
  });
  const tasks = [
    { id: '1', subject: 'Write', status: 'completed' },
    { id: '2', subject: 'Run', status: 'pending' },
  ];
  const { events } = readItems(
    called('a', 'TaskUpdate', { taskId: '2', status: 'in_progress' }),
    result('a', { success: true }),
    called('b', 'TaskList', {}),
    result('b', { tasks }),
    called('c', 'TaskUpdate', { taskId: '1', status: 'deleted' }),
    result('c', { success: true }),
  );
  expect(events.filter(({ type }) => type === 'plan.updated')).toMatchObject([
    { steps: [{ text: 'Write', status: 'completed' }, { text: 'Run' }] },
    { steps: [{ text: 'Run', status: 'pending' }] },
  ]);
});

test('a block or a part of an unknown kind is kept, and its neighbors are read', () => {
  const block = { type: 'redacted_thinking', data: 'x' };
  const part = { type: 'stream_event', event: { type: 'unknown' } };
  const message = { content: [block, { type: 'text', text: 'Hi.' }] };
  const { events, summary } = readItems({ type: 'assistant', message }, part);
  expect(events).toEqual([
    { type: 'raw', native: block },
    { type: 'message', role: 'assistant', text: 'Hi.' },
    { type: 'raw', native: part },
  ]);
  expect(summary.unknown).toBe(1);
});

test('a long failure is cut to 4 KiB', () => {
  const { summary } = readItems({
    type: 'result',
    subtype: 'error_during_execution',
    errors: ['x'.repeat(9_000)],
  });
  expect(summary.failure).toHaveLength(4 * 1024);
});

test('usage of versions whose results do not report the usage since the last result', () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 2,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 1,
  };
  const result = { type: 'result', subtype: 'success', is_error: false, usage, total_cost_usd: 0.5 };
  const turnUsage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 1 };
  const ofNew = readNative(new ClaudeStream({}, true), linesOf(result)).summary;
  expect(ofNew).toMatchObject({ usage: turnUsage, costUsd: 0.5 });
  const { summary } = readItems(result);
  expect(summary.usage).toEqual(turnUsage);
  expect(summary, 'the cost is that of all turns of the session').not.toHaveProperty('costUsd');
});

test('the result of the output format json has cost and model, and does not show the tool calls', () => {
  const { events, summary } = recorded.stream('json');
  expect(summary).toMatchObject({ ending: 'completed', costUsd: 0.195123, toolCallsByName: null });
  expect(deriveAgentMetadata(events)).toMatchObject({ models: ['claude-sonnet-4-5'], modelCalls: null });
  const result = JSON.parse(recorded.textOf('json', 'stream'));
  const { inputTokens } = result.modelUsage['claude-sonnet-4-5'];
  result.modelUsage['claude-sonnet-4-5'].inputTokens = 2 * inputTokens;
  const resumed = readItems(result).summary;
  expect(resumed.usage?.inputTokens, 'not that of the session').toBe(inputTokens);
  expect(resumed).not.toHaveProperty('costUsd');
});

test('paths outside the workspace stay absolute', () => {
  const bytes = recorded.bytesOf('task.stream.jsonl');
  const { events } = readNative(new ClaudeStream({ workdir: '/elsewhere' }), bytes);
  expect(deriveAgentMetadata(events).fileChanges[0]?.path).toBe('/workspace/greet.sh');
});

test('the session start names the loaded plugins of the configuration, not the built-in ones', () => {
  const init = { type: 'system', subtype: 'init', session_id: 's' };
  const passed = { name: 'tea-house', path: '/home/p/tea-house', source: 'tea-house@inline' };
  const builtIn = { name: 'cc-plugin-privacy', path: 'builtin', source: 'cc-plugin-privacy@builtin' };
  const startOf = (plugins: unknown) => readItems({ ...init, plugins }).events[0];
  expect(startOf([passed, builtIn, 'x', {}])).toMatchObject({
    type: 'session.started',
    plugins: ['tea-house'],
  });
  expect(startOf([builtIn])).not.toHaveProperty('plugins');
  expect(startOf(undefined)).not.toHaveProperty('plugins');
});
