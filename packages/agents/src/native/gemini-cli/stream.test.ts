import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { linesOf, recordingsOf } from '../__fixtures__/recordings.ts';
import { GeminiStream } from './stream.ts';

const recorded = recordingsOf('gemini-cli');
const readText = (text: string): NativeReading =>
  readNative(new GeminiStream({ workdir: '/workspace' }), Buffer.from(text));
const readItems = (...items: object[]): NativeReading => readNative(new GeminiStream(), linesOf(...items));

test('each token, call and reply is counted once', () => {
  const { events, summary } = recorded.stream('main');
  const metadata = deriveAgentMetadata(events);

  expect(summary).toMatchObject({ ending: 'completed', sessionId: metadata.sessionId });
  // 200 of 91,410 tokens came from the cache; 20 tokens beyond input and output were thinking.
  expect(summary.usage).toMatchObject({ cacheReadTokens: 200, reasoningTokens: 20 });
  expect(metadata.usage).toEqual(summary.usage);
  expect(metadata.commands.map(({ command, status }) => [command, status])).toEqual([
    ['sh greet.sh', 'completed'],
    ['echo oops >&2; exit 3', 'completed'],
  ]);
  expect(metadata.fileChanges).toEqual([
    { path: 'greet.sh', change: 'modified' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(metadata.skills).toEqual({ confirmed: ['greeting'], attempted: [] });
  expect(metadata.mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['weather', 'forecast', 'completed'],
    ['weather', 'forecast', 'failed'],
  ]);
  expect(metadata.tools.every(({ status }) => status !== 'pending')).toBe(true);
  expect(replyText(events)).toBe('I write the file.\nAll done.');
});

test('a turn of a resumed session has only its own usage', () => {
  const [first, second] = [recorded.stream('main'), recorded.stream('main-resumed')];
  expect(second.summary.sessionId).toBe(first.summary.sessionId);
  expect(second.summary.usage?.inputTokens).toBeLessThan(first.summary.usage?.inputTokens ?? 0);
});

test('the pieces of an answer become one message', () => {
  const pieces = ['One ', 'and ', 'one.'].map((content) => ({
    type: 'message',
    role: 'assistant',
    content,
    delta: true,
  }));
  const { events } = readItems(...pieces, { type: 'result', status: 'success' });
  expect(events).toEqual([{ type: 'message', role: 'assistant', text: 'One and one.' }]);
});

test.each([
  ['bad-request', 'failed', '400'],
  ['unauthorized', 'failed', '401'],
  ['forbidden', 'failed', '403'],
  ['unreachable', 'failed', '502'],
  ['rate-limited', 'failed', 'Too many requests'],
  ['outage', 'failed', '500'],
  ['turn-limit', 'failed', 'max session turns'],
])('%s: the turn fails with the message of the agent', (name, ending, words) => {
  expect(recorded.stream(name).summary).toMatchObject({ ending, failure: expect.stringContaining(words) });
});

test.each([
  'rate-limited-once',
  'overloaded-once',
  'reset-once',
  'truncated-once',
  'garbage-once',
  'malformed-calls',
  'denied',
])('%s: the agent continues and completes the turn', (name) => {
  const { summary } = recorded.stream(name);
  expect(summary.ending).toBe('completed');
  expect(summary.failure).toBeUndefined();
});

test.each(['hang', 'main', 'outage'])('%s: a stream without a result has no ending', (name) => {
  const lines = recorded.bytesOf(`${name}.stream.jsonl`).toString().split('\n');
  const text = lines.filter((line) => !line.startsWith('{"type":"result"')).join('\n');
  expect(readText(text).summary.ending).toBeUndefined();
});

test('a refused call is rejected, not failed', () => {
  expect(recorded.stream('denied').events).toContainEqual(
    expect.objectContaining({
      type: 'action.result',
      status: 'rejected',
      output: 'Tool execution denied by policy.',
    }),
  );
});

test('a success after an error is a failure', () => {
  const loop = { type: 'error', severity: 'warning', message: 'Loop detected, stopping execution' };
  const result = { type: 'result', status: 'success', stats: {} };
  expect(readItems(loop, result).summary).toMatchObject({
    ending: 'failed',
    failure: 'Loop detected, stopping execution',
  });
  const answer = { type: 'message', role: 'assistant', content: 'Another way, then.', delta: true };
  expect(readItems(loop, answer, result).summary.ending).toBe('completed');
});

test('the name of a known server may contain an underscore', () => {
  const item = { type: 'tool_use', tool_id: 'a', tool_name: 'mcp_my_words_define', parameters: {} };
  const nameWith = (...mcpServers: string[]) =>
    readNative(new GeminiStream({ mcpServers }), linesOf(item)).events[0];
  expect(nameWith('my_words')).toMatchObject({ name: 'mcp__my_words__define' });
  expect(nameWith()).toMatchObject({ name: 'mcp__my__words_define' });
});
