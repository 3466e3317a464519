import { matchesGlob } from 'node:path';
import { deriveAgentMetadata } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { QwenStream } from './stream.ts';

const recorded = recordingsOf('qwen-code');
const place = { workdir: '/workspace' };

test('reports the same calls, files and skills as the stream', () => {
  const stream = readNative(new QwenStream(place), recorded.bytesOf('task.stream.jsonl'));
  const { commands, fileChanges, skills, mcp } = deriveAgentMetadata(stream.events);
  expect(deriveAgentMetadata(recorded.transcript('task').events)).toMatchObject({
    commands,
    fileChanges,
    skills,
    mcp,
  });
});

test('model calls of sub-agents belong to their call; those of side requests belong to no call', () => {
  const { events, summary } = recorded.transcript('task');
  const parents = events.flatMap((event) => (event.type === 'usage' ? [event.parentCallId] : []));
  expect(parents).toHaveLength(16);
  expect(parents.filter((parent) => parent !== undefined)).toEqual(
    Array(2).fill('call_52e2b01c168ce5c522379c07'),
  );
  // The last side request came after the answer and does not change the ending.
  expect(summary).toMatchObject({ ending: 'completed', usage: { inputTokens: 21_119 + 12_477 } });
});

test('the file of a sub-agent belongs to the call that started it', () => {
  const { events, summary } = recorded.transcript('subagent');
  const [, ...childEvents] = events;
  expect(new Set(childEvents.map(({ parentCallId }) => parentCallId))).toEqual(
    new Set(['call_52e2b01c168ce5c522379c07']),
  );
  // The file of the session has its usage.
  expect(summary.usage).toBeUndefined();
});

test('a compaction has its summary', () => {
  const compactions = recorded.transcript('compaction').events.filter(({ type }) => type === 'compaction');
  expect(compactions).toMatchObject([{ summary: expect.stringContaining('Said hi.') }]);
});

test('the summary says how the last turn ended', () => {
  expect(recorded.transcript('unauthorized').summary).toMatchObject({
    ending: 'failed',
    failure: expect.stringContaining('401'),
  });
  expect(recorded.transcript('rate-limit-once').summary.ending).toBe('completed');
});

test('the pattern matches the file of a session and the files of its sub-agents', () => {
  const project = '.qwen/projects/-workspace';
  expect(matchesGlob(`${project}/chats/a1b2.jsonl`, recorded.transcriptPattern)).toBe(true);
  expect(matchesGlob(`${project}/subagents/a1b2/agent-c3.jsonl`, recorded.transcriptPattern)).toBe(true);
});
