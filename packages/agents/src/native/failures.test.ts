import { deriveAgentMetadata } from '@whetstone/events';
import { expect, test } from 'vitest';
import { testedVersion } from '../install/install-agent.ts';
import { type End, type FailureRow, failureRows } from './__fixtures__/failure-rows.ts';
import type { NativeReading } from './__fixtures__/read-native.ts';
import { recordingsOf } from './__fixtures__/recordings.ts';
import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from './native-agents.ts';

/** Those of the rows. */
const kinds = drivenAgentKinds.filter((kind) => failureRows[0] && kind in failureRows[0].ends);

type Failure = { kind: DrivenAgentKind; name: string; end: End; reading: NativeReading };

/** What an agent printed and how its process ended; a text with the reason if there is no recording. */
function failureOf({ name, recording, ends }: FailureRow, kind: DrivenAgentKind): Failure | string {
  const recordedEnd = ends[kind] ?? { none: 'not recorded' };
  if (typeof recordedEnd === 'object' && 'none' in recordedEnd) return recordedEnd.none;
  const end = typeof recordedEnd === 'object' ? recordedEnd : { exit: recordedEnd };
  return { kind, name, end, reading: recordingsOf(kind).stream(end.recording ?? recording) };
}

const failuresOf = (rows: readonly FailureRow[]): Failure[] =>
  rows
    .flatMap((row) => kinds.map((kind) => failureOf(row, kind)))
    .filter((failure) => typeof failure !== 'string');

test.each(failuresOf(failureRows.filter(({ isCompleted }) => !isCompleted)))(
  '$kind: $name: the turn does not complete',
  ({ reading: { events, summary } }) => {
    expect(['failed', undefined]).toContain(summary.ending);
    if (summary.ending !== 'failed') return;
    expect(summary.failure).toBeTruthy();
    expect(events.some(({ type }) => type === 'error')).toBe(true);
  },
);

test.each(failuresOf(failureRows.filter(({ isCompleted }) => isCompleted)))(
  '$kind: $name: the call is rejected and the turn completes',
  ({ reading: { events, summary } }) => {
    expect(summary.ending).toBe('completed');
    expect(deriveAgentMetadata(events).tools.map(({ status }) => status)).toContain('rejected');
  },
);

test('the page in the docs matches the recordings', async () => {
  const agents = kinds.map((kind) => `${kind} ${testedVersion(drivenAgents[kind])}`);
  const header = ['failure', ...agents];
  const rows = failureRows.map((row) => [row.name, ...kinds.map((kind) => cell(failureOf(row, kind)))]);
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const page = `${introduction}\n${lines.join('\n')}\n`;
  await expect(page).toMatchFileSnapshot('../../../../docs/agents-failures.md');
});

function cell(failure: Failure | string): string {
  if (typeof failure === 'string') return `– (${failure})`;
  const { end, reading } = failure;
  const exit = typeof end.exit === 'number' ? `exit ${end.exit}` : end.exit;
  return `${end.isStopped ? 'stopped by the test, ' : ''}${exit}, ${reading.summary.ending ?? 'no end reported'}`;
}

const introduction = `# How the agents fail

Written by \`npx vitest run packages/agents/src/native/failures.test.ts -u\`. What each released agent printed
was recorded once, and \`npm test\` reads the recordings. Each cell says how the process ended, and how the turn ended
according to the stream. _No end reported_: the stream does not say how the turn ended, so the turn counts as failed,
whatever the exit code is. _Stopped by the test_: the agent retried for 12 to 45 seconds, until the test stopped it.
[Agents whose provider is at fault](agents-faults.md) covers other failures, measured with running agents.
`;
