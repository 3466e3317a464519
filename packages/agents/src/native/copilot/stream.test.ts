import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { CopilotStream } from './stream.ts';

const recorded = recordingsOf('copilot');
const readText = (text: string): NativeReading =>
  readNative(new CopilotStream({ workdir: '/workspace' }), Buffer.from(text));

test('each call and reply is reported once', () => {
  const { events, summary } = recorded.stream('main');
  const metadata = deriveAgentMetadata(events);

  const facts = { turnId: '39f3aecc-dde7-4c0d-9942-4b7f5808d43b' };
  expect(summary).toMatchObject({ ending: 'completed', sessionId: expect.any(String), facts });
  expect(metadata.commands.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
    ['sh greet.sh', 'completed', 0],
    ['echo oops >&2; exit 3', 'completed', 3],
    ['cat README.md', 'completed', 0],
  ]);
  expect(metadata.fileChanges).toEqual([
    { path: 'greet.sh', change: 'added' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(metadata.skills).toEqual({ confirmed: ['greeting'], attempted: [] });
  expect(metadata.mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['weather', 'forecast', 'completed'],
    ['weather', 'forecast', 'failed'],
  ]);
  expect(metadata.tools.every(({ status }) => status !== 'pending')).toBe(true);
  expect(events.filter(({ type }) => type === 'thinking')).toHaveLength(1);
  expect(replyText(events)).toBe('I write the file.\nAll done.');
});

test("a sub-agent's events name the call that started it; its start and end belong to the caller", () => {
  const { events } = recorded.stream('main');
  const [begin] = events.filter((event) => event.type === 'subagent.called');
  expect(begin).toMatchObject({ name: 'general-purpose' });
  expect(begin).not.toHaveProperty('parentCallId');
  const childs = events.filter(({ parentCallId }) => parentCallId === begin?.callId);
  expect(childs.map(({ type }) => type)).toEqual([
    'message', // the prompt
    'message',
    'action.called',
    'action.result',
    'message',
  ]);
  const [end] = events.filter(({ type }) => type === 'subagent.completed');
  expect(end).toMatchObject({ callId: begin?.callId, status: 'completed', output: 'It says Greetings.' });
  expect(end).not.toHaveProperty('parentCallId');
});

test.each([
  ['unauthorized', 'HTTP 401', 3],
  ['forbidden', 'HTTP 403', 1],
  ['bad-request', '400', 1],
  ['outage', '500', 6],
])('%s: the turn fails and reports each failed request', (name, words, requests) => {
  const { events, summary } = recorded.stream(name);
  expect(summary).toMatchObject({ ending: 'failed', failure: expect.stringContaining(words) });
  const errors = events.flatMap((event) => (event.type === 'error' ? [event.message] : []));
  expect(errors.filter((message) => message.startsWith('The model call failed'))).toHaveLength(requests);
  expect(errors).toHaveLength(requests + 1);
  expect(summary.metadata?.copilot).toMatchObject({ retries: requests - 1 });
});

test('a turn whose retry succeeded has not failed', () => {
  const { events, summary } = recorded.stream('truncated-once');
  expect(summary).toMatchObject({ ending: 'completed', metadata: { copilot: { retries: 1 } } });
  expect(summary.failure).toBeUndefined();
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
});

test('the error of a sub-agent is not the end of the turn', () => {
  const { events, summary } = recorded.stream('agent-fails');
  expect(summary.ending).toBe('completed');
  expect(events).toContainEqual(expect.objectContaining({ type: 'subagent.completed', status: 'failed' }));
});

test('a refused call is rejected, not failed', () => {
  const { events, summary } = recorded.stream('denied');
  expect(summary.ending).toBe('completed');
  expect(events.flatMap((event) => (event.type === 'action.result' ? [event.status] : []))).toEqual([
    'rejected',
    'rejected',
  ]);
});

test('a stopped run has failed, even if its exit code is 0', () => {
  const result = '{"type":"result","sessionId":"s","exitCode":0,"usage":{}}\n';
  const hang = recorded.bytesOf('hang.stream.jsonl').toString();
  for (const text of [hang, hang + result]) {
    expect(readText(text).summary).toMatchObject({ ending: 'failed', failure: 'aborted: user_abort' });
  }
});

test.each(['main', 'denied', 'truncated-once'])('%s: a stream without a result has no ending', (name) => {
  const lines = recorded.bytesOf(`${name}.stream.jsonl`).toString().trimEnd().split('\n');
  expect(readText(lines.slice(0, -1).join('\n')).summary.ending).toBeUndefined();
});

test('a result while calls are open means failure', () => {
  const lines = recorded.bytesOf('denied.stream.jsonl').toString().trimEnd().split('\n');
  const last = lines.findLastIndex((line) => line.startsWith('{"type":"assistant.message"'));
  const text = [...lines.slice(0, last), ...lines.slice(last + 1)].join('\n');
  expect(readText(text).summary.ending).toBe('failed');
});
