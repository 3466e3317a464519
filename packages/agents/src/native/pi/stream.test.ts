import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { PiStream } from './stream.ts';

const recorded = recordingsOf('pi');
const readText = (text: string): NativeReading => readNative(new PiStream(), Buffer.from(text));

/** Endings that `failures.test.ts` does not cover. All exit codes are 0. */
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

test('each token, call and reply is counted once', () => {
  const { events, summary } = recorded.stream('main');
  const metadata = deriveAgentMetadata(events);

  expect(summary.ending).toBe('completed');
  expect(metadata.usage).toEqual(summary.usage);
  expect(metadata.modelCalls).toBe(8);
  expect(metadata.commands.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
    ['sh greet.sh', 'completed', 0],
    ['echo oops >&2; exit 3', 'failed', 3],
    ['echo two', 'completed', 0],
  ]);
  expect(metadata.fileChanges.map(({ path }) => path)).toEqual(['greet.sh', 'greet.sh']);
  expect(metadata.skills).toEqual({ confirmed: ['greeting'], attempted: [] });
  expect(replyText(events)).toBe('I write the file.\nAll done.');
});

test('a compaction has the usage of its own model call', () => {
  const { events } = recorded.stream('compact-resumed');
  expect(events.filter(({ type }) => type === 'compaction' || type === 'usage')).toMatchObject([
    { type: 'usage', usage: { inputTokens: 25_000 } },
    { type: 'compaction', summary: 'SUMMARY OF it.' },
    { type: 'usage', usage: { inputTokens: 337, outputTokens: 4 } },
    { type: 'usage' },
  ]);
});

test('a run that failed with exit code 0 has failed', () => {
  expect(recorded.stream('unauthorized').summary).toMatchObject({
    ending: 'failed',
    failure: expect.stringContaining('401'),
  });
  expect(recorded.stream('outage').summary).toMatchObject({
    ending: 'failed',
    failure: expect.stringContaining('500'),
    metadata: { pi: { retries: 3 } },
  });
});

test('a turn whose retry succeeded has not failed', () => {
  const { events, summary } = recorded.stream('truncated');
  expect(summary.ending).toBe('completed');
  expect(summary.failure).toBeUndefined();
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
});

test.each(['outage', 'main', 'truncated'])('%s: a stream that breaks off has no ending', (name) => {
  const text = recorded.bytesOf(`${name}.stream.jsonl`).toString();
  const lines = text.split('\n');
  const end = lines.findLastIndex((line) => line.startsWith('{"type":"agent_end"'));
  expect(readText(lines.slice(0, end).join('\n')).summary.ending).toBeUndefined();
});

test('only a newline ends a line', () => {
  const text = 'one\u2028two\u2029three';
  const message = { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' };
  const { events, summary } = readText(`${JSON.stringify({ type: 'message_end', message })}\n`);
  expect(summary.lines).toBe(1);
  expect(events).toEqual([{ type: 'message', role: 'assistant', text }]);
});

/** In 0.73.1, each delta has the whole message so far, twice. */
test('50 MB of updates give no events and take no memory', () => {
  const partial = { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(500_000) }] };
  const update = JSON.stringify({
    type: 'message_update',
    message: partial,
    assistantMessageEvent: { type: 'text_delta', delta: 'x', partial },
  });
  const chunk = Buffer.from(`${update}\n`);
  const mapper = new PiStream();
  const end = { type: 'message_end', message: { role: 'assistant', content: 'done', stopReason: 'stop' } };
  const bytes = Buffer.concat([...Array.from({ length: 50 }, () => chunk), Buffer.from(JSON.stringify(end))]);
  const { events, summary } = readNative(mapper, bytes);
  expect(bytes.length).toBeGreaterThan(50_000_000);
  expect(summary).toMatchObject({ lines: 51, unknown: 0, isTruncated: false });
  expect(events).toEqual([{ type: 'message', role: 'assistant', text: 'done' }]);
});
