import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { BubTape } from './transcript.ts';

const recorded = recordingsOf('bub');
const readBytes = (bytes: Buffer): NativeReading => readNative(new BubTape({ workdir: '/workspace' }), bytes);

test('each token, call and reply is counted once', () => {
  const { events, summary } = recorded.transcript('main');
  const metadata = deriveAgentMetadata(events);

  expect(summary.ending).toBe('completed');
  expect(metadata.usage).toEqual(summary.usage);
  expect(metadata.modelCalls).toBe(5);
  expect(metadata.tools.map(({ name, status }) => [name, status])).toEqual([
    ['fs_write', 'completed'],
    ['bash', 'completed'],
    ['bash', 'failed'],
    ['load_skill', 'completed'],
    ['subagent', 'completed'],
    ['fs_edit', 'completed'],
    ['tape_handoff', 'completed'],
  ]);
  expect(metadata.fileChanges.map(({ path }) => path)).toEqual(['greet.sh', 'greet.sh']);
  expect(metadata.skills.confirmed).toEqual(['greeting']);
  expect(events.filter(({ type }) => type === 'compaction')).toMatchObject([
    { summary: 'The script is there.' },
  ]);
  expect(replyText(events)).toBe('All done.');
});

test('calls stay apart even if every run uses the same ids', () => {
  const calls = recorded
    .transcript('main')
    .events.flatMap((event) => (event.type === 'action.called' ? [event.callId] : []));
  expect(new Set(calls).size).toBe(calls.length);
});

test('a failure is reported once, with its own message', () => {
  const { events, summary } = recorded.transcript('failed');
  expect(summary).toMatchObject({ ending: 'failed', failure: 'The server had an error.' });
  expect(events.flatMap((event) => (event.type === 'error' ? [event.message] : []))).toEqual([
    'prompt too long',
    'The server had an error.',
  ]);
});

test('a tape that stops after a `continue` step has no ending', () => {
  const lines = recorded.bytesOf('main.transcript.jsonl').toString().trimEnd().split('\n');
  const end = lines.findLastIndex((line) => line.includes('"status": "continue"'));
  expect(readBytes(Buffer.from(lines.slice(0, end + 1).join('\n'))).summary.ending).toBeUndefined();
});
