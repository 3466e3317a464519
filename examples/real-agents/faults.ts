import type { Turn } from '@whetstone/agents';
import { type DrivenAgentKind, drivenAgents } from '@whetstone/agents/config';
import { createGateway, type FaultRule } from '@whetstone/gateway';
import { decideOutcome } from '../../packages/whetstone/src/attempt/decide-outcome.ts';
import type { FailureClass } from '../../packages/whetstone/src/record/row.ts';
import type { Verification } from '../../packages/whetstone/src/verify/verify.ts';
import { type InstalledAgent, openAgent } from './drive-agent.ts';
import { openProvider } from './provider.ts';
import { finalFiles, prompt } from './task.ts';

/** Faults of the provider, and the outcome that a case must have. */
export type FaultCase = { name: string; rules: readonly FaultRule[]; outcome: 'passed' | FailureClass };

const status = (code: number): FaultRule => ({ fault: { kind: 'status', status: code } });
const limit: FaultRule = { fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } };

const once = (rule: FaultRule): FaultRule => ({ ...rule, when: { first: 1 } });

/**
 * Faults of the first call and of others. None of them meets the call that repeats another one, because the task has 5 calls
 * of its own.
 */
const onceEach = (first: FaultRule, ...others: (readonly [call: number, rule: FaultRule])[]): FaultRule[] => [
  once(first),
  ...others.map(([call, rule]) => ({ ...rule, when: { every: call } })),
];

const reset: FaultRule = { fault: { kind: 'reset' } };
const truncated: FaultRule = { fault: { kind: 'truncated', afterEvents: 1 } };
const garbage: FaultRule = { fault: { kind: 'garbage', afterEvents: 1 } };

export const faultCases: readonly FaultCase[] = [
  { name: '401', rules: [status(401)], outcome: 'harness' },
  {
    name: '429, 500 and 529 once each',
    rules: onceEach(limit, [5, status(500)], [7, status(529)]),
    outcome: 'passed',
  },
  { name: '429', rules: [limit], outcome: 'provider-limit' },
  { name: '500', rules: [status(500)], outcome: 'provider-outage' },
  // On a connection that was used before, the gateway itself repeats the request.
  { name: 'reset once', rules: [once(reset)], outcome: 'passed' },
  { name: 'reset', rules: [reset], outcome: 'provider-outage' },
  { name: 'hang', rules: [{ fault: { kind: 'hang' } }], outcome: 'timeout' },
  // Both within a text: Gemini CLI takes a call that has come whole.
  {
    name: 'truncated and garbage once each',
    rules: onceEach(truncated, [6, garbage]),
    outcome: 'passed',
  },
  {
    name: 'malformed tool JSON at times',
    rules: [{ fault: { kind: 'malformed-tool-json' }, when: { every: 2 } }],
    outcome: 'passed',
  },
];

/** Settings with which an agent gives up within seconds. The other agents have no such setting. */
const fewerRetries: Partial<Record<DrivenAgentKind, NonNullable<InstalledAgent['extra']>>> = {
  'claude-code': { env: { CLAUDE_CODE_MAX_RETRIES: '1' } },
  'claude-agent-sdk': { env: { CLAUDE_CODE_MAX_RETRIES: '1' } },
  'gemini-cli': { files: { '.gemini/settings.json': '{"general":{"maxAttempts":2}}' } },
};

export type Observation = {
  turn: Turn;
  /** How often the agent called its model. */
  calls: number;
  outcome: 'passed' | FailureClass;
};

/** Runs the task with an agent whose provider has a fault. */
export async function meetFault(
  kind: DrivenAgentKind,
  { name, rules }: FaultCase,
  timeoutMs: number,
): Promise<Observation> {
  await using provider = await openProvider(drivenAgents[kind].release.wire, rules);
  await using gateway = await createGateway();
  const { upstreams } = provider;
  await using lane = await gateway.open({ owner: name, mode: { kind: 'forward', upstreams } });
  const extra = fewerRetries[kind];
  await using session = await openAgent({ kind, lane, ...(extra && { extra }) });
  const { turn } = await session.turn(prompt, { timeoutMs });
  const files = await session.files();
  const isDone = Object.entries(finalFiles).every(([file, content]) => files[file] === content);
  const outcome = decideOutcome({
    turn,
    calls: lane.ledger,
    gatewayMode: 'forward',
    verification: verification(isDone),
  });
  return {
    turn,
    calls: lane.ledger.length,
    outcome: 'class' in outcome ? outcome.class : 'passed',
  };
}

const verification = (isDone: boolean): Verification => ({
  validation: isDone ? 'passed' : 'failed',
  commands: [],
  hard: [],
  hardStatus: 'not_configured',
  protectedTouched: [],
  ...(isDone ? {} : { failure: 'the files are not what the task asks for' }),
});
