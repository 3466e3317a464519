import type { StreamEvent } from '@whetstone/events';
import type { PendingAssertion, Subject } from '../packages/whetstone/src/eval/assertions/assertion.ts';
import type { Assertions } from '../packages/whetstone/src/eval/assertions/assertions.ts';
import { createAssertions } from '../packages/whetstone/src/eval/assertions/create-assertions.ts';
import { commandMatch, lastEdit, referencesAnyPath } from '../packages/whetstone/src/expect.ts';
import { type Benchmark, tableOf } from './benchmark.ts';

/** Rounds of reading, running, editing and talking in a case; each has 10 events. */
const ROUNDS = 10;

/** Stored cases whose assertions are evaluated again from their events, as `whetstone rescore` does. */
export const assertions: Benchmark = async ({ size, say }) => {
  const cases = size === 'quick' ? 200 : 10_000;
  const logs = Array.from({ length: cases }, (_, number) => eventLog(number));
  const measured = [];
  for (const [subject, evaluate] of Object.entries(EVALS)) {
    say(subject);
    const started = { cpu: process.cpuUsage(), wall: performance.now() };
    let count = 0;
    for (const log of logs) count += (await rescore(log, evaluate)).length;
    const { user, system } = process.cpuUsage(started.cpu);
    const wall = (performance.now() - started.wall) / 1000;
    measured.push({ subject, count, cpu: (user + system) / 1e6, wall });
  }
  return {
    method: `Parses ${cases} event logs of ${ROUNDS * 10} events and evaluates assertions on each, in one process.`,
    tables: [
      tableOf('Rescoring', measured, [
        ['assertions', '', 0, ({ count }) => count],
        ['CPU', 's', 2, ({ cpu }) => cpu],
        ['wall', 's', 2, ({ wall }) => wall],
        ['CPU per assertion', 'µs', 1, ({ cpu, count }) => (cpu / count) * 1e6],
      ]),
    ],
    aims: measured.map(({ subject, cpu }) => ({
      ...{ what: `CPU of ${subject}`, measured: cpu, below: 10, unit: 's', digits: 2 },
    })),
    notes: ['The logs are in memory; reading them from a disk is not measured.'],
  };
};

const EVALS: Record<string, (t: Assertions) => void> = {
  'eight assertions on events': (t) => {
    t.succeeded();
    t.calledTool('shell', { input: { command: /npm test/ } });
    t.notCalledTool(commandMatch('rm'));
    t.toolOrder(['read', 'edit']);
    t.maxToolCalls(100);
    t.noFailedActions();
    t.notEvent('error');
    t.maxTokens(1_000_000);
  },
  'with paths, moments and secrets': (t) => {
    EVALS['eight assertions on events']?.(t);
    t.notCalledTool(referencesAnyPath(['.env', 'secrets/**']));
    t.never.read('hidden/**');
    t.after(lastEdit).ran(/test/);
    t.noSecretIn('any', ['sk-live-abcdefghij']);
  },
};

async function rescore(log: string, evaluate: (t: Assertions) => void) {
  const events = (JSON.parse(log) as StreamEvent[]).map((event, index) => ({ index, event }));
  const subject: Subject = {
    ...{ scope: 'attempt', events, capabilities: { toolObservability: true }, status: 'completed' },
    ...{ usage: { inputTokens: 900, outputTokens: 100 }, costUsd: 0.1, reply: 'Done.', data: undefined },
  };
  const made: PendingAssertion[] = [];
  evaluate(
    createAssertions(
      () => subject,
      (one) => made.push(one),
    ),
  );
  return Promise.all(made.map((one) => one.settle()));
}

/** No two logs are alike, so that nothing derived from one serves another. */
function eventLog(number: number): string {
  const round = (at: number): StreamEvent[] => {
    const id = `${number}-${at}`;
    const path = `src/file-${id}.ts`;
    const call = (name: string, input: Record<string, string>, output: string): StreamEvent[] => [
      { type: 'action.called', callId: `${name}-${id}`, name, input },
      { type: 'action.result', callId: `${name}-${id}`, status: 'completed', output },
    ];
    return [
      { type: 'thinking', text: `I look at ${path} first.` },
      ...call('read', { path }, 'export const sum = (a, b) => a - b;\n'.repeat(5)),
      ...call('shell', { command: `cd packages/a && npm test -- ${path}` }, '1 failed\n'.repeat(10)),
      ...call('edit', { path, old: 'a - b', new: 'a + b' }, 'ok'),
      ...call('shell', { command: `bash -lc 'npm test'` }, '1 passed'),
      { type: 'usage', usage: { inputTokens: 90, outputTokens: 10 } },
    ];
  };
  return JSON.stringify(Array.from({ length: ROUNDS }, (_, at) => round(at)).flat());
}
