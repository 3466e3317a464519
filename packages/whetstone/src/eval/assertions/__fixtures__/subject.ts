import { createMask } from '@whetstone/sandbox';
import type { StreamEvent } from '@whetstone/agents';
import type { AssertionHandle, AssertionRecord, FileChange, PendingAssertion, Subject } from '../assertion.ts';
import type { Assertions } from '../assertions.ts';
import { createAssertions } from '../create-assertions.ts';

export const called = (callId: string, name: string, input: object): StreamEvent => ({
  type: 'action.called',
  callId,
  name,
  input: input as never,
});

export const result = (
  callId: string,
  status: 'completed' | 'failed' | 'rejected' = 'completed',
  output?: string | object,
): StreamEvent => ({
  type: 'action.result',
  callId,
  status,
  ...(output === undefined ? {} : { output: output as never }),
});

export const said = (text: string, role: 'assistant' | 'user' = 'assistant'): StreamEvent => ({
  type: 'message',
  role,
  text,
});

export const ran = (callId: string, command: string, output = { exitCode: 0 }): StreamEvent[] => [
  called(callId, 'shell', { command }),
  result(callId, output.exitCode === 0 ? 'completed' : 'failed', output),
];

/** An agent that reads, tests, edits and stops without a last test. Two turns. */
export const story: readonly StreamEvent[] = [
  { type: 'session.started', sessionId: 's1' },
  said('Fix the sum.', 'user'),
  { type: 'thinking', text: 'I look at the code first.' },
  ...[called('1', 'read', { path: 'src/sum.ts' }), result('1', 'completed', 'return a - b')],
  ...ran('2', 'cd app && npm test', { exitCode: 1 }),
  { type: 'usage', usage: { inputTokens: 900, outputTokens: 100 }, calls: 2, costUsd: 0.02 },
  ...[called('3', 'load_skill', { skill: 'review' }), result('3')],
  { type: 'skill.loaded', skill: 'review', callId: '3' },
  ...[called('4', 'edit', { path: 'src/sum.ts', new: 'return a + b' }), result('4')],
  said('I fixed it. The key is sk-live-1234567.'),
  { type: 'usage', usage: { inputTokens: 1500, outputTokens: 200 }, calls: 1, costUsd: 0.03 },
  said('Now ask somebody.', 'user'),
  { type: 'subagent.called', callId: '5', name: 'reviewer' },
  { type: 'subagent.completed', callId: '5', status: 'failed', output: 'I could not' },
  ...ran('6', "bash -lc 'rm -rf build'"),
  { type: 'error', message: 'the stream ended early' },
].map((event, index): StreamEvent => ({ ...(event as StreamEvent), turn: index < 15 ? 0 : 1 }));

const change = (path: string, status: FileChange['status'], before?: string, after?: string): FileChange => ({
  path,
  status,
  before: async () => before,
  after: async () => after,
  patch: `--- a/${path}\n+++ b/${path}\n-${before ?? ''}\n+${after ?? ''}\n`,
});

export const changes = [
  change('src/sum.ts', 'modified', 'return a - b', 'return a + b'),
  change('notes.txt', 'added', undefined, 'TODO: remove'),
  change('old.ts', 'deleted', 'gone'),
];

export function subjectOf(events: readonly StreamEvent[], more: Partial<Subject> = {}): Subject {
  return {
    scope: 'attempt',
    events: events.map((event, index) => ({ index, event })),
    capabilities: { toolObservability: true, workspace: true, conversation: true },
    usage: { inputTokens: 2400, outputTokens: 300 },
    costUsd: 0.05,
    reply: 'I fixed it.',
    data: undefined,
    status: 'completed',
    changes: async () => changes,
    ...more,
  };
}

/** Runs an eval's assertions on a subject, and gives their records in order. */
export async function recordsOf(
  subject: Subject,
  run: (t: Assertions) => unknown,
  secrets?: readonly string[],
): Promise<AssertionRecord[]> {
  const made: PendingAssertion[] = [];
  const mask = secrets && createMask(secrets);
  const options = mask ? { masked: async (texts: readonly string[]) => texts.map(mask.text) } : {};
  await run(createAssertions(() => subject, (one) => made.push(one), options));
  return Promise.all(made.map((one) => one.settle()));
}

export async function recordOf(
  subject: Subject,
  run: (t: Assertions) => AssertionHandle,
): Promise<AssertionRecord> {
  const [record] = await recordsOf(subject, (t) => void run(t));
  if (!record) throw new Error('nothing was recorded');
  return record;
}
