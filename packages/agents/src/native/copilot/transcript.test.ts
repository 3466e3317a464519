import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { CopilotTranscript } from './transcript.ts';

const recorded = recordingsOf('copilot');
const place = { workdir: '/workspace' };
const readBytes = (bytes: Buffer): NativeReading => readNative(new CopilotTranscript(place), bytes);

test.each([
  ['main', ['main', 'main-resumed']],
  ['agent-fails', ['agent-fails']],
  ['denied', ['denied']],
  ['unauthorized', ['unauthorized']],
])('%s: reports what the streams of its turns report', (name, streamNames) => {
  const streams = streamNames.map((one) => recorded.stream(one));
  const transcript = recorded.transcript(name);
  const compared = [
    'message',
    'action.called',
    'action.result',
    'subagent.called',
    'subagent.completed',
    'file.changed',
  ];
  const bare = (events: readonly StreamEvent[]) =>
    events
      .filter(({ type }) => compared.includes(type))
      .map((event) => ({ ...event, at: undefined, turn: undefined }))
      .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

  expect(bare(transcript.events)).toEqual(bare(streams.flatMap(({ events }) => events)));
  const { ending, sessionId, failure } = streams.at(-1)?.summary ?? {};
  expect(transcript.summary).toMatchObject({ ending, sessionId });
  expect(transcript.summary.failure).toBe(failure);
});

test('each token is counted once, also in sub-agents and compactions', () => {
  const main = recorded.transcript('main');
  const { usage, modelCalls } = deriveAgentMetadata(main.events);
  expect(modelCalls).toBe(11);
  expect(usage).toMatchObject({ cacheReadTokens: 200, reasoningTokens: 20 });
  // The last turn has one model call.
  const last = main.events.findLast((event) => event.type === 'usage');
  expect(main.summary.usage).toEqual(last?.usage);

  const compacted = recorded.transcript('compact');
  const calls = compacted.events.flatMap((event) =>
    event.type === 'usage' ? [event.usage.inputTokens] : [],
  );
  expect(calls).toEqual([140_000, 150_000, 18_048, 12_063]);
  expect(compacted.summary.usage?.inputTokens).toBe(140_000 + 150_000 + 18_048 + 12_063);
});

test('input tokens leave out the cache, with either provider', () => {
  const [first] = recorded.transcript('anthropic').events.filter((event) => event.type === 'usage');
  expect(first?.usage).toMatchObject({
    inputTokens: 100,
    cacheReadTokens: 300,
    cacheWriteTokens: 50,
    outputTokens: 70,
  });
});

test('compactions report what they dropped', () => {
  const compactions = ['compact', 'compact-by-hand'].map((name) =>
    recorded.transcript(name).events.filter(({ type }) => type === 'compaction'),
  );
  expect(compactions).toMatchObject([
    [{ summary: '<summary>All that was.</summary>', droppedMessages: 0 }],
    [{ droppedMessages: 3 }],
  ]);
});

test('approvals say what was asked and who decided', () => {
  const { approvals } = deriveAgentMetadata(recorded.transcript('denied').events);
  expect(approvals).toEqual([
    { callId: expect.stringMatching(/^call_/), decision: 'denied', by: 'agent', rule: 'unattended_fallback' },
    // A rule refused this one, without a question.
    { callId: expect.stringMatching(/^call_/), decision: 'denied', by: 'agent' },
  ]);
});

test('a file that stops before its program ended has no ending', () => {
  const text = recorded.bytesOf('main.transcript.jsonl').toString();
  const end = text.lastIndexOf('{"type":"session.shutdown"');
  expect(readBytes(Buffer.from(text.slice(0, end))).summary.ending).toBeUndefined();
});

test('a stopped run has failed', () => {
  expect(recorded.transcript('hang').summary).toMatchObject({
    ending: 'failed',
    failure: 'aborted: user_abort',
  });
});
