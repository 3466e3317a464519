import { deriveAgentMetadata, replyText, type StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { GeminiTranscript } from './transcript.ts';

const recorded = recordingsOf('gemini-cli');
const place = { workdir: '/workspace' };

test('reports the calls and the tokens of the streams of its turns', () => {
  const streams = [recorded.stream('main'), recorded.stream('main-resumed')];
  const { events, summary } = recorded.transcript('main');
  const calls = (list: readonly StreamEvent[]) =>
    list.flatMap((event) =>
      event.type === 'action.called'
        ? [[event.callId, event.name]]
        : event.type === 'action.result'
          ? [[event.callId, event.status]]
          : [],
    );

  expect(calls(events).toSorted()).toEqual(streams.flatMap((stream) => calls(stream.events)).toSorted());
  expect(replyText(events)).toBe(streams.map((stream) => replyText(stream.events)).join('\n'));
  expect(summary.sessionId).toBe(streams[0]?.summary.sessionId);
  // The summary covers the last turn.
  expect(summary.usage).toEqual(streams[1]?.summary.usage);
  const all = deriveAgentMetadata(streams.flatMap((stream) => stream.events)).usage;
  expect(deriveAgentMetadata(events).usage).toEqual(all);
});

test('reports what the stream leaves out: thinking, new files, exit codes, answers of sub-agents', () => {
  const { events } = recorded.transcript('main');
  expect(events.filter(({ type }) => type === 'thinking')).toMatchObject([
    { text: 'Planning\nI think first.' },
  ]);
  const { fileChanges, commands } = deriveAgentMetadata(events);
  expect(fileChanges).toEqual([
    { path: 'greet.sh', change: 'added' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(commands.map(({ exitCode }) => exitCode)).toEqual([undefined, 3]);
  const ends = [recorded.transcript('agent'), recorded.transcript('agent-gives-up')].map((reading) =>
    reading.events.find(({ type }) => type === 'subagent.completed'),
  );
  expect(ends).toMatchObject([
    { status: 'completed', output: expect.stringContaining('It says Greetings.') },
    { status: 'failed', output: expect.stringContaining('MAX_TURNS') },
  ]);
});

test("a sub-agent's file can be matched with the call that started it", () => {
  const [parent, child] = [recorded.transcript('agent'), recorded.transcript('agent-child')];
  const [begin] = parent.events.filter((event) => event.type === 'subagent.called');
  const { sessionId = '' } = child.summary;
  expect(parent.summary.subagents).toEqual({ [sessionId]: begin?.callId });
  const mapped = child.events.filter(({ type }) => type !== 'raw');
  expect(mapped).not.toEqual([]);
  for (const event of mapped) expect(event).toMatchObject({ parentCallId: sessionId });
});

test('a compaction is one event, and the messages that it keeps are not reported again', () => {
  const { events } = recorded.transcript('compact');
  expect(events.filter(({ type }) => type === 'compaction')).toMatchObject([
    { summary: '<state_snapshot>All that was.</state_snapshot>', droppedMessages: 11 },
  ]);
  const prompts = events.flatMap((event) =>
    event.type === 'message' && event.role === 'user' ? [event.text] : [],
  );
  expect(prompts).toEqual(['Do it.', 'And on.']);
  expect(
    new Set(events.flatMap((event) => (event.type === 'action.called' ? [event.callId] : []))).size,
  ).toBe(3);
});

test('a refused call is rejected, not failed', () => {
  expect(recorded.transcript('denied').events).toContainEqual(
    expect.objectContaining({ type: 'action.result', status: 'rejected' }),
  );
});

test('a result is reported even if the process ended before its call was complete', () => {
  const lines = recorded.bytesOf('agent.transcript.jsonl').toString().split('\n');
  const begun = lines.map((line) => line.replace('"status":"success"', '"status":"executing"')).join('\n');
  const { events } = readNative(new GeminiTranscript(place), Buffer.from(begun));
  const ends = events.filter(({ type }) => type === 'action.result' || type === 'subagent.completed');
  expect(ends.map(({ type }) => type)).toEqual(['subagent.completed', 'action.result']);
});
