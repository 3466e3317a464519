import { deriveAgentMetadata } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { CodexRollout } from './transcript.ts';

const recorded = recordingsOf('codex-cli');
const place = { workdir: '/workspace' };

test.each(['agents', 'code-mode', 'compact', 'truncated', 'unauthorized'])(
  '%s: reports what the stream reports',
  (name) => {
    const stream = recorded.stream(name);
    const { ending, sessionId, usage, failure } = stream.summary;
    const { events, summary } = recorded.transcript(name);

    expect(summary).toMatchObject({ ending, sessionId, ...present({ usage }) });
    if (ending === 'failed') expect(summary.failure).toBe(failure);
    expect(deriveAgentMetadata(events).fileChanges).toEqual(deriveAgentMetadata(stream.events).fileChanges);
  },
);

test('the usage is that of the last turn, with each request counted once', () => {
  const { events, summary } = recorded.transcript('main');
  expect(summary.usage).toMatchObject({ inputTokens: 19_566, outputTokens: 10 });
  const { usage, modelCalls, models } = deriveAgentMetadata(events);
  expect({ usage, modelCalls, models }).toMatchObject({
    usage: { inputTokens: 104_916, outputTokens: 109, reasoningTokens: 5 },
    modelCalls: 11,
    models: ['gpt-5.5'],
  });
});

test('every call has one result with its exit code, and a call that a rule forbids is rejected', () => {
  const { events } = recorded.transcript('main');
  const { commands, tools, skills } = deriveAgentMetadata(events);
  expect(tools.filter(({ status }) => status === 'pending')).toEqual([]);
  expect(commands.map(({ status, exitCode }) => [status, exitCode])).toEqual([
    ['completed', 0],
    ['failed', 3],
    ['completed', 0],
    ['completed', 0],
    ['rejected', undefined],
    ['completed', 0],
  ]);
  expect(skills.confirmed).toEqual(['greeting']);
});

test('a sub-agent ends under the call that started it, and the summary maps its thread to that call', () => {
  const { events, summary } = recorded.transcript('agents');
  const children = events.filter(({ type }) => type.startsWith('subagent'));
  expect(children).toMatchObject([
    { type: 'subagent.called' },
    { type: 'subagent.completed', status: 'completed', output: 'The child is done.' },
  ]);
  const child = recorded.transcript('agents-child').summary;
  const [callId] = children.flatMap((event) => ('callId' in event ? [event.callId] : []));
  expect(summary.subagents).toEqual({ [child.sessionId ?? '']: callId });
  expect(child.metadata).toMatchObject({ codex: { parentThreadId: summary.sessionId } });
});

test('a forked thread has no events for what it copied from its parent', () => {
  const { events } = recorded.transcript('code-mode-child');
  expect(events.filter(({ type }) => type === 'session.started')).toHaveLength(1);
  expect(events.flatMap((event) => (event.type === 'action.called' ? [event.name] : []))).toEqual([
    'exec',
    'mcp__weather__forecast',
    'wait_agent',
  ]);
});

test('a compaction is reported once, from its own line', () => {
  const { events } = recorded.transcript('compact');
  expect(events.filter(({ type }) => type === 'compaction')).toMatchObject([{ summary: 'SUMMARY OF it.' }]);
  expect(events.flatMap((event) => (event.type === 'message' ? [event.text] : []))).toEqual([
    'Compact please.',
    'After.',
  ]);
});

test('the usage of a version without usage records comes from its token counts', () => {
  const lines = recorded.bytesOf('main.transcript.jsonl').toString().split('\n');
  const without = lines.filter((line) => !line.includes('"type":"token_usage_record"')).join('\n');
  const { summary } = readNative(new CodexRollout(place), Buffer.from(without));
  expect(summary.usage).toEqual(recorded.transcript('main').summary.usage);
});
