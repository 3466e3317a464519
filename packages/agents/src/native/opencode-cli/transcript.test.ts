import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { OpencodeTranscript } from './transcript.ts';

const recorded = recordingsOf('opencode-cli');

test.each([
  ['main', ['main', 'main-resumed']],
  ['apply-patch', ['apply-patch']],
  ['truncated', ['truncated']],
])('%s: reports what the streams report', (name, streamNames) => {
  const streams = streamNames.map((one) => recorded.stream(one));
  const transcript = recorded.transcript(name);
  const compared = [
    'action.called',
    'action.result',
    'subagent.called',
    'file.changed',
    'plan.updated',
    'usage',
  ];
  const bare = (events: readonly StreamEvent[]) =>
    events
      .filter(({ type }) => compared.includes(type))
      .map((event) => ({ ...event, at: undefined, turn: undefined, model: undefined }));

  expect(bare(transcript.events)).toEqual(streams.flatMap(({ events }) => bare(events)));
  const { ending, usage, sessionId } = streams.at(-1)?.summary ?? {};
  expect(transcript.summary).toMatchObject({ ending, usage, sessionId });
});

test('reports a summary as a compaction', () => {
  const { events, summary } = recorded.transcript('compact');
  const texts = events.flatMap((event) =>
    event.type === 'message' && event.role === 'assistant' ? [event.text] : [],
  );
  expect(texts).toEqual(['After.']);
  expect(events.filter(({ type }) => type === 'compaction')).toHaveLength(1);
  expect(summary.ending).toBe('completed');
});

test('a part of an unknown shape does not affect the other parts', () => {
  const document = JSON.parse(recorded.bytesOf('main.transcript.json').toString());
  document.messages[1].parts[2] = { type: 'text', text: 5 };
  const { events, summary } = readNative(new OpencodeTranscript(), Buffer.from(JSON.stringify(document)), {
    form: 'document',
  });
  expect(events.filter(({ type }) => type === 'raw')).toContainEqual(
    expect.objectContaining({ native: { type: 'text', text: 5 } }),
  );
  expect(summary).toMatchObject({ ending: 'completed', unknown: 0 });
});
