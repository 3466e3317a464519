import { deriveAgentMetadata } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { linesOf, recordingsOf } from '../__fixtures__/recordings.ts';
import { CodexStream } from './stream.ts';

const recorded = recordingsOf('codex-cli');
const readLines = (...lines: object[]): NativeReading => readNative(new CodexStream(), linesOf(...lines));

/** Endings that `failures.test.ts` does not cover. */
const endings: readonly (readonly [string, 'completed' | 'failed' | undefined])[] = [
  ['rate-limit-once', 'completed'],
  ['server-error-once', 'completed'],
  ['truncated', 'completed'],
  ['garbage-once', 'completed'],
  ['unauthorized', 'failed'],
  ['outage', 'failed'],
  ['reset', 'failed'],
];

test.each(endings)('%s: %s', (name, ending) => {
  const { summary } = recorded.stream(name);
  expect(summary.ending).toBe(ending);
  expect(summary.failure !== undefined || ending !== 'failed').toBe(true);
});

test('a sub-agent is called once and ends once, under the call that started it', () => {
  const { events, summary } = recorded.stream('agents');
  expect(events.filter(({ type }) => type.startsWith('subagent'))).toEqual([
    { type: 'subagent.called', callId: 'item_2', name: 'agent' },
    { type: 'subagent.completed', callId: 'item_2', status: 'completed', output: 'The child is done.' },
  ]);
  const thread = '01a20115-967b-77a1-80c6-0cee37d3ef1e';
  expect(summary.subagents).toEqual({ [thread]: 'item_2' });
});

test('MCP calls have the results of their servers', () => {
  const { events } = recorded.stream('agents');
  const { mcp, tools } = deriveAgentMetadata(events);
  expect(mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['weather', 'forecast', 'completed'],
    ['weather', 'broken', 'failed'],
  ]);
  expect(tools.find(({ name }) => name === 'mcp__weather__forecast')).toMatchObject({
    input: { city: 'Bern' },
    output: { content: [{ type: 'text', text: 'Sunny in Bern' }] },
  });
});

test('a command that reads a skill counts as its use', () => {
  expect(deriveAgentMetadata(recorded.stream('main').events).skills.confirmed).toEqual(['greeting']);
});

test('the usage of a resumed turn is what it added to the usage of the thread', () => {
  const first = new CodexStream();
  readNative(first, recorded.bytesOf('main.stream.jsonl'));
  const second = new CodexStream({}, first.facts.threadUsage);
  const { summary } = readNative(second, recorded.bytesOf('main-resumed.stream.jsonl'));
  expect(summary.usage).toMatchObject({ inputTokens: 19_566, outputTokens: 10 });
});

test('if the earlier usage of the thread is unknown, the turn has no usage and the next turn has its own', () => {
  const first = new CodexStream({}, 'unread');
  const reading = readNative(first, recorded.bytesOf('main.stream.jsonl'));
  expect(reading.summary.usage).toBeUndefined();
  expect(reading.events.filter(({ type }) => type === 'usage')).toEqual([]);
  const second = new CodexStream({}, first.facts.threadUsage);
  const { summary } = readNative(second, recorded.bytesOf('main-resumed.stream.jsonl'));
  expect(summary.usage).toMatchObject({ inputTokens: 19_566 });
});

test('a plan is reported when it changes', () => {
  const todo = (completed: boolean) => ({ id: '1', type: 'todo_list', items: [{ text: 'Run', completed }] });
  const { events } = readLines(
    { type: 'item.started', item: todo(false) },
    { type: 'item.updated', item: todo(true) },
    { type: 'item.completed', item: todo(true) },
  );
  expect(events).toEqual([
    { type: 'plan.updated', steps: [{ text: 'Run', status: 'pending' }] },
    { type: 'plan.updated', steps: [{ text: 'Run', status: 'completed' }] },
  ]);
});

test('a patch is a tool call, and a refused one changes no file', () => {
  const changes = [{ path: 'a', kind: 'add' }];
  const patch = (status: string) => {
    const item = { id: '1', type: 'file_change', changes, status };
    return readLines({ type: 'item.started', item }, { type: 'item.completed', item }).events;
  };
  const called = { type: 'action.called', callId: '1', name: 'apply_patch', input: { changes } };
  expect(patch('completed')).toEqual([
    called,
    { type: 'action.result', callId: '1', status: 'completed' },
    { type: 'file.changed', path: 'a', change: 'added' },
  ]);
  expect(patch('declined')).toEqual([called, { type: 'action.result', callId: '1', status: 'rejected' }]);
  expect(patch('failed')).toEqual([called, { type: 'action.result', callId: '1', status: 'failed' }]);
});

test.each([
  [`/bin/bash -lc 'echo one'`, 'echo one'],
  [`/bin/bash -lc "cat -- 'greet.sh'"`, `cat -- 'greet.sh'`],
  [`bash -lc "it's \\"\\$HOME\\""`, `it's "$HOME"`],
  [`/bin/zsh -c 'cd a && npm test'`, 'cd a && npm test'],
  [`bash -lc 'a' extra`, `bash -lc 'a' extra`],
  [`bash -lc 'never closed`, `bash -lc 'never closed`],
  [`bash -lc echo | sort`, `bash -lc echo | sort`],
  ['npm test', 'npm test'],
])('the command is shown without the shell around it: %s', (command, shown) => {
  const item = { id: '1', type: 'command_execution', command, status: 'in_progress' };
  expect(readLines({ type: 'item.started', item }).events).toMatchObject([{ input: { command: shown } }]);
});

test.each([-5, '5', 1.5])('a count of tokens that is %j makes the usage unknown', (tokens) => {
  const { events, summary } = readLines({
    type: 'turn.completed',
    usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: tokens },
  });
  expect(events).toEqual([]);
  expect(summary).toMatchObject({ ending: 'completed', hasInvalidUsage: true });
  expect(summary).not.toHaveProperty('usage');
});

test('a sub-agent that could not start has failed', () => {
  const item = {
    id: '1',
    type: 'collab_tool_call',
    tool: 'spawn_agent',
    prompt: 'Go.',
    receiver_thread_ids: [],
  };
  const { events } = readLines({ type: 'item.completed', item: { ...item, status: 'failed' } });
  expect(events.map((event) => [event.type, 'status' in event && event.status])).toEqual([
    ['action.called', false],
    ['subagent.called', false],
    ['subagent.completed', 'failed'],
    ['action.result', 'failed'],
  ]);
});

test('an error before the end of the turn does not end it', () => {
  expect(recorded.stream('truncated').summary.ending).toBe('completed');
  const { summary } = recorded.stream('unauthorized');
  expect(summary).toMatchObject({ ending: 'failed', failure: expect.stringContaining('401') });
  const lines = recorded.bytesOf('unauthorized.stream.jsonl').toString().split('\n');
  const broken = readNative(new CodexStream(), Buffer.from(lines.slice(0, 4).join('\n')));
  expect(broken.summary.ending).toBeUndefined();
});
