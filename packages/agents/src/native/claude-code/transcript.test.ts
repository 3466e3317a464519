import { matchesGlob } from 'node:path';
import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { ClaudeTranscript } from './transcript.ts';

const recorded = recordingsOf('claude-code');

test('reports the same calls, files, skills and plans as the streams of its turns', () => {
  const summaryOf = (events: readonly StreamEvent[]) => {
    const { tools, commands, fileChanges, skills, mcp } = deriveAgentMetadata(
      events.filter(({ parentCallId }) => parentCallId === undefined),
    );
    const plans = events.flatMap((event) => (event.type === 'plan.updated' ? [event.steps] : []));
    return { tools, commands, fileChanges, skills, mcp, plans };
  };
  const streams = ['task', 'second-turn'].flatMap((name) => recorded.stream(name).events);
  expect(summaryOf(recorded.transcript('task').events)).toEqual(summaryOf(streams));
});

test('has each prompt in its turn, and the usage of the last turn', () => {
  const { events, summary } = recorded.transcript('task');
  const prompts = events.filter((event) => event.type === 'message' && event.role === 'user');
  expect(prompts).toMatchObject([
    { text: 'Write greet.sh.', turn: 0 },
    { text: 'Once more.', turn: 1 },
  ]);
  expect(summary).toMatchObject({ ending: 'completed', usage: { inputTokens: 33_257, outputTokens: 4 } });
  expect(summary.costUsd).toBeCloseTo(0.099831, 6);
});

test("nothing in a sub-agent's file is the reply of the session", () => {
  const { events } = recorded.transcript('subagent');
  const childEvents = events.filter(({ type }) => type !== 'session.started' && type !== 'raw');
  expect(childEvents.length).toBeGreaterThan(4);
  expect(childEvents.every(({ parentCallId }) => parentCallId === 'a686da27377728320')).toBe(true);
});

test('the summary says how the last turn ended', () => {
  expect(recorded.transcript('unauthorized').summary).toMatchObject({
    ending: 'failed',
    failure: expect.stringContaining('401'),
  });
  expect(recorded.transcript('rate-limit-once').summary.ending).toBe('completed');
  const lines = recorded.bytesOf('compaction.transcript.jsonl').toString().split('\n');
  const lastPrompt = lines.findLastIndex((line) => line.includes('"content":"Once more."'));
  const cut = Buffer.from(lines.slice(0, lastPrompt + 1).join('\n'));
  expect(readNative(new ClaudeTranscript(), cut).summary.ending).toBeUndefined();
});

test('the pattern matches the file of a session and the files of its sub-agents', () => {
  const project = '.claude/projects/-workspace';
  const pattern = recorded.transcriptPattern;
  expect(matchesGlob(`${project}/a1b2.jsonl`, pattern)).toBe(true);
  expect(matchesGlob(`${project}/a1b2/subagents/agent-c3.jsonl`, pattern)).toBe(true);
  expect(matchesGlob(`${project}/a1b2/other/agent-c3.jsonl`, pattern)).toBe(false);
});
