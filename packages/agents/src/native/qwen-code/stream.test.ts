import { deriveAgentMetadata, emptyUsage, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { QwenStream } from './stream.ts';
import { QwenTranscript } from './transcript.ts';

const recorded = recordingsOf('qwen-code');

test('each call, file, skill and MCP call of a task is reported once, under the names of the vocabulary', () => {
  const { events, summary } = recorded.stream('task');
  const metadata = deriveAgentMetadata(events);

  expect(summary.ending).toBe('completed');
  expect(metadata.usage).toEqual(summary.usage);
  expect(metadata.modelCalls).toBe(12);
  expect(metadata.commands.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
    ['ls', 'completed', 0],
    ['sh greet.sh; echo oops >&2; exit 3', 'failed', 3],
  ]);
  expect(metadata.fileChanges).toEqual([
    { path: 'greet.sh', change: 'added' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(metadata.skills).toEqual({ confirmed: ['greeting'], attempted: ['no-such-skill'] });
  // Qwen Code calls tools of MCP servers through `tool_call`.
  expect(metadata.mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['clock', 'now', 'completed'],
    ['clock', 'now', 'failed'],
  ]);
  expect(replyText(events)).toBe('I plan.\nI write the file.\nIt says good day now.\nNothing more.');
});

test.each([
  ['in the background', 'task'],
  ['in the foreground', 'foreground-subagent'],
])('a sub-agent %s has its prompt and its end', (_, name) => {
  const { events } = recorded.stream(name);
  const called = events.find(({ type }) => type === 'subagent.called');
  const callId = called?.type === 'subagent.called' ? called.callId : '';
  const ofTheCall = events.filter((event) => 'callId' in event && event.callId === callId);
  expect(ofTheCall.filter(({ type }) => type.startsWith('subagent'))).toMatchObject([
    { type: 'subagent.called', name: 'general-purpose' },
    { type: 'subagent.completed', status: 'completed' },
  ]);
  expect(events.find(({ parentCallId }) => parentCallId === callId)).toMatchObject({
    type: 'message',
    role: 'user',
    text: 'CHILD: list the files.',
  });
});

test('cached tokens are counted in one bucket', () => {
  const call = { inputTokens: 107, outputTokens: 20, cacheReadTokens: 50 };
  const { events, summary } = recorded.stream('cache-usage');
  expect(events.filter(({ type }) => type === 'usage')).toMatchObject([{ usage: call }, { usage: call }]);
  expect(summary.usage).toEqual({ inputTokens: 214, outputTokens: 40, cacheReadTokens: 100 });
});

test('if the earlier usage of the session is known, a turn includes sub-agents and side requests', () => {
  const first = new QwenStream({}, emptyUsage());
  expect(readNative(first, recorded.bytesOf('task.stream.jsonl')).summary.usage).toMatchObject({
    inputTokens: 274_767,
  });
  const second = readNative(
    new QwenStream({}, first.sessionUsage),
    recorded.bytesOf('second-turn.stream.jsonl'),
  );
  const transcript = readNative(new QwenTranscript(), recorded.bytesOf('task.transcript.jsonl'));
  expect(second.summary.usage).toMatchObject({ inputTokens: 33_596, outputTokens: 8 });
  expect(transcript.summary.usage).toMatchObject({ inputTokens: 33_596, outputTokens: 8 });
});

test('if it is unknown, a turn of a resumed session has only the usage of the agent itself', () => {
  expect(recorded.stream('second-turn').summary.usage).toMatchObject({
    inputTokens: 21_119,
    outputTokens: 4,
  });
});

test('a refused call has a denial and a rejected result', () => {
  expect(deriveAgentMetadata(recorded.stream('denied').events)).toMatchObject({
    approvals: [{ decision: 'denied' }],
    tools: [{ name: 'run_shell_command', status: 'rejected' }],
  });
});

test.each([
  ['unauthorized', '401'],
  ['bad-request', '400'],
  ['server-error', '500'],
])('%s: failed, with one error and no reply', (name, words) => {
  const { events, summary } = recorded.stream(name);
  expect(summary).toMatchObject({ ending: 'failed', failure: expect.stringContaining(words) });
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
  expect(replyText(events)).toBe('');
});

test.each(['rate-limit-once', 'truncated-once', 'malformed-call'])('%s: the turn still completes', (name) => {
  const { summary } = recorded.stream(name);
  expect(summary.ending).toBe('completed');
  expect(summary.failure).toBeUndefined();
});

test.each(['hang', 'turn-limit'])('%s: the turn has no ending', (name) => {
  expect(recorded.stream(name).summary.ending).toBeUndefined();
});
