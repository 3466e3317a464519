import { deriveAgentMetadata } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { linesOf, recordingsOf } from '../__fixtures__/recordings.ts';
import { OpencodeStream } from './stream.ts';

const recorded = recordingsOf('opencode-cli');

/** Endings that `failures.test.ts` does not cover. OpenCode retries without end and prints nothing meanwhile. */
const endings: readonly (readonly [string, 'completed' | 'failed' | undefined])[] = [
  ['rate-limit-once', 'completed'],
  ['server-error-once', 'completed'],
  ['truncated', 'completed'],
  ['garbage-once', 'completed'],
  ['unauthorized', 'failed'],
  ['outage', undefined],
  ['reset', undefined],
];

test.each(endings)('%s: %s', (name, ending) => {
  const { summary } = recorded.stream(name);
  expect(summary.ending).toBe(ending);
  expect(summary.failure !== undefined || ending !== 'failed').toBe(true);
});

test('reports commands, files, skills, MCP calls, plans and sub-agents', () => {
  const { events, summary } = recorded.stream('main');
  const metadata = deriveAgentMetadata(events);

  expect(summary).toMatchObject({ ending: 'completed', unknown: 0, malformed: 0 });
  expect(metadata.commands.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
    ['sh greet.sh', 'completed', 0],
    ['echo oops >&2; exit 3', 'failed', 3],
    ['rm greet.sh', 'rejected', undefined],
  ]);
  expect(metadata.fileChanges).toEqual([
    { path: 'greet.sh', change: 'added' },
    { path: 'greet.sh', change: 'modified' },
  ]);
  expect(metadata.skills.confirmed).toEqual(['greeting']);
  expect(metadata.mcp.map(({ server, tool, status }) => [server, tool, status])).toEqual([
    ['weather', 'forecast', 'completed'],
    ['weather', 'broken', 'failed'],
  ]);
  expect(events.find(({ type }) => type === 'plan.updated')).toMatchObject({
    steps: [
      { text: 'Write', status: 'completed' },
      { text: 'Run', status: 'in_progress' },
    ],
  });
  expect(events.filter(({ type }) => type.startsWith('subagent'))).toMatchObject([
    { type: 'subagent.called', name: 'general' },
    { type: 'subagent.completed', status: 'completed' },
  ]);
});

test('usage comes per step, with cached input apart and reasoning in the output', () => {
  expect(recorded.stream('main-resumed').summary.usage).toEqual({
    inputTokens: 50,
    outputTokens: 20,
    cacheReadTokens: 900,
    cacheWriteTokens: 0,
    reasoningTokens: 8,
  });
  const { events, summary } = recorded.stream('main');
  expect(deriveAgentMetadata(events)).toMatchObject({ modelCalls: 13, usage: summary.usage });
});

test('a step that was cut off is not a call and not an end', () => {
  const { events, summary } = recorded.stream('truncated');
  expect(summary).toMatchObject({ ending: 'completed', metadata: { opencode: { steps: 2, cutSteps: 1 } } });
  expect(events.filter(({ type }) => type === 'usage')).toHaveLength(1);
});

test('the step that writes a summary is not the end', () => {
  const lines = recorded.bytesOf('compact.stream.jsonl').toString().split('\n');
  const goesOn = lines.findIndex((line) => line.includes('compaction_continue'));
  const { events, summary } = readNative(
    new OpencodeStream(),
    Buffer.from(lines.slice(0, goesOn + 1).join('\n')),
  );
  expect(summary.ending).toBeUndefined();
  expect(events.filter(({ type }) => type === 'compaction')).toHaveLength(1);
  expect(recorded.stream('compact').summary.ending).toBe('completed');
});

test('an error ends the turn', () => {
  expect(recorded.stream('unauthorized').summary).toMatchObject({
    ending: 'failed',
    failure: 'The API key is not valid.',
  });
});

test.each([
  ['my-words_define', 'mcp__my-words__define'],
  ['my_define', 'mcp__my__define'],
  // The longest name that fits.
  ['my_words_define', 'mcp__my_words__define'],
  ['yours_define', 'yours_define'],
])('a call of MCP by the names of its servers: %s', (tool, name) => {
  const mcpServers = ['my', 'my_words', 'my-words'];
  const part = { type: 'tool', tool, callID: 'a', state: { status: 'completed', input: {}, output: '' } };
  const { events } = readNative(new OpencodeStream({ mcpServers }), linesOf({ type: 'tool_use', part }));
  expect(events[0]).toMatchObject({ name });
});

test('without the names of the servers, an MCP call keeps its native name', () => {
  const { events } = readNative(new OpencodeStream(), recorded.bytesOf('main.stream.jsonl'));
  const names = events.flatMap((event) => (event.type === 'action.called' ? [event.name] : []));
  expect(names).toContain('weather_forecast');
});
