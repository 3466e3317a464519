import { type DrivenAgentKind, drivenAgentKinds } from '@whetstone/agents/config';
import { beforeAll, describe, expect, test } from 'vitest';
import { faultTable } from './fault-table.ts';
import { type FaultCase, faultCases, meetFault, type Observation } from './faults.ts';

const observations = new Map<string, Observation>();
const observed = (kind: DrivenAgentKind, name: string): Observation => {
  const observation = observations.get(`${kind} ${name}`);
  if (!observation) throw new Error(`${kind} did not meet ${name}.`);
  return observation;
};

beforeAll(async () => {
  const pairs = faultCases.flatMap((faultCase) => drivenAgentKinds.map((kind) => ({ kind, faultCase })));
  const { true: waiting = [], false: working = [] } = Object.groupBy(
    pairs,
    ({ kind, faultCase }) => `${isStopped(kind, faultCase)}` as const,
  );
  // Those that the test stops only wait, and cost the others no time.
  await Promise.all([meetAll(waiting, 4), meetAll(working, 3)]);
}, 1_200_000);

type Pair = { kind: DrivenAgentKind; faultCase: FaultCase };

/** Meets faults, so many at once. */
async function meetAll(pairs: readonly Pair[], atOnce: number): Promise<void> {
  const queue = pairs.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const { kind, faultCase } of queue) {
        const observation = await meetPatiently(kind, faultCase);
        observations.set(`${kind} ${faultCase.name}`, observation);
      }
    }),
  );
}

/** Whether the agent goes on until the test stops it. */
const isStopped = (kind: DrivenAgentKind, { name }: FaultCase): boolean =>
  Object.entries(ends[kind]).some(([fault, how]) => fault === name && how === 'stopped');

/**
 * On a busy machine, an agent may have been stopped before it met its fault, or while the call was under way. Then it gets twice
 * the time.
 */
async function meetPatiently(kind: DrivenAgentKind, faultCase: FaultCase): Promise<Observation> {
  for (let timeoutMs = patience(kind, faultCase); ; timeoutMs *= 2) {
    const observation = await meetFault(kind, faultCase, timeoutMs);
    const hasMet = observation.calls > 0 && (faultCase.name === 'hang' || observation.outcome !== 'timeout');
    if (hasMet || timeoutMs > LONGEST_PATIENCE_MS) return observation;
  }
}

const LONGEST_PATIENCE_MS = 120_000;

/** Milliseconds after which a run is stopped: soon only where the agent would go on for minutes. */
function patience(kind: DrivenAgentKind, faultCase: FaultCase): number {
  if (faultCase.name === 'hang') return 15_000;
  return isStopped(kind, faultCase) ? 25_000 : LONGEST_PATIENCE_MS;
}

const passing = faultCases.filter(({ outcome }) => outcome === 'passed');

describe.each(drivenAgentKinds)('%s', (kind) => {
  test.each(faultCases)('$name comes to: $outcome', ({ name, outcome }) => {
    expect(observed(kind, name).outcome).toBe(outcome);
  });

  test.each(passing)('ends well after $name', ({ name }) => {
    const { turn } = observed(kind, name);
    expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit', exitCode: 0 } });
  });
});

/** How an agent ends that cannot continue: its exit code and the number of its calls; or the test stops it. */
type End = { exitCode: number; calls: number } | 'stopped';
const end = (exitCode: number, calls: number): End => ({ exitCode, calls });
const lasting = ['401', '429', '500', 'reset', 'hang'] as const;

/** With the retries that `faults.ts` allows them; a reset by the provider is a 502 of the gateway. */
const ends: Record<DrivenAgentKind, Record<(typeof lasting)[number], End>> = {
  'codex-cli': { 401: end(1, 3), 429: end(1, 6), 500: end(1, 30), reset: end(1, 30), hang: 'stopped' },
  'codex-app-server': { 401: end(0, 3), 429: end(0, 6), 500: end(0, 30), reset: end(0, 30), hang: 'stopped' },
  'claude-code': { 401: end(1, 1), 429: end(1, 2), 500: end(1, 2), reset: end(1, 2), hang: 'stopped' },
  // The status modulo 256.
  'gemini-cli': {
    401: end(145, 1),
    429: end(173, 2),
    500: end(244, 2),
    reset: end(246, 2),
    hang: 'stopped',
  },
  'qwen-code': { 401: end(1, 1), 429: 'stopped', 500: 'stopped', reset: 'stopped', hang: 'stopped' },
  'opencode-cli': { 401: end(1, 1), 429: end(1, 6), 500: 'stopped', reset: 'stopped', hang: 'stopped' },
  // Never by its exit code.
  pi: { 401: end(0, 1), 429: end(0, 4), 500: end(0, 4), reset: end(0, 4), hang: 'stopped' },
  copilot: { 401: end(1, 1), 429: end(1, 6), 500: end(1, 6), reset: end(1, 6), hang: 'stopped' },
  // As the program behind the SDK.
  'codex-sdk': { 401: end(1, 3), 429: end(1, 6), 500: end(1, 30), reset: end(1, 30), hang: 'stopped' },
  'claude-agent-sdk': { 401: end(1, 1), 429: end(1, 2), 500: end(1, 2), reset: end(1, 2), hang: 'stopped' },
  'opencode-sdk': { 401: end(0, 1), 429: end(0, 6), 500: 'stopped', reset: 'stopped', hang: 'stopped' },
};

describe.each(drivenAgentKinds)('%s', (kind) => {
  test.each(lasting)('%s ends it as known', (name) => {
    const { turn, calls } = observed(kind, name);
    if (ends[kind][name] === 'stopped') {
      expect(calls).toBeGreaterThan(0);
      expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
      return;
    }
    expect({ exitCode: turn.exit?.exitCode, calls }).toEqual(ends[kind][name]);
    expect(turn.status).toBe('failed');
  });
});

test('the table in the documents is what was seen', async () => {
  await expect(faultTable(observed)).toMatchFileSnapshot('../../docs/agents-faults.md');
});
