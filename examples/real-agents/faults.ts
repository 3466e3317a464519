import type { Turn } from '@whetstone/agents';
import { type DrivenAgentKind, drivenAgents } from '@whetstone/agents/config';
import { createGateway, type FaultRule } from '@whetstone/gateway';
import { decideOutcome } from '../../packages/whetstone/src/attempt/decide-outcome.ts';
import type { FailureClass } from '../../packages/whetstone/src/record/row.ts';
import type { Verification } from '../../packages/whetstone/src/verify/verify.ts';
import { type InstalledAgent, openAgent } from './drive-agent.ts';
import { openProvider } from './provider.ts';
import { finalFiles, prompt } from './task.ts';

/** A fault of the provider, and the outcome that a case must have. */
export type FaultCase = { name: string; rule: FaultRule; outcome: 'passed' | FailureClass };

const status = (code: number): FaultRule => ({ fault: { kind: 'status', status: code } });
const limit: FaultRule = { fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } };
const once = (rule: FaultRule): FaultRule => ({ ...rule, when: { first: 1 } });

export const faultCases: readonly FaultCase[] = [
  { name: '401', rule: status(401), outcome: 'harness' },
  { name: '429 once', rule: once(limit), outcome: 'passed' },
  { name: '429', rule: limit, outcome: 'provider-limit' },
  { name: '500 once', rule: once(status(500)), outcome: 'passed' },
  { name: '500', rule: status(500), outcome: 'provider-outage' },
  { name: '529 once', rule: once(status(529)), outcome: 'passed' },
  { name: 'reset once', rule: once({ fault: { kind: 'reset' } }), outcome: 'passed' },
  { name: 'reset', rule: { fault: { kind: 'reset' } }, outcome: 'provider-outage' },
  { name: 'hang', rule: { fault: { kind: 'hang' } }, outcome: 'timeout' },
  { name: 'truncated once', rule: once({ fault: { kind: 'truncated', afterEvents: 1 } }), outcome: 'passed' },
  { name: 'garbage once', rule: once({ fault: { kind: 'garbage', afterEvents: 1 } }), outcome: 'passed' },
  {
    name: 'malformed tool JSON at times',
    rule: { fault: { kind: 'malformed-tool-json' }, when: { every: 2 } },
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
  { name, rule }: FaultCase,
  timeoutMs: number,
): Promise<Observation> {
  await using provider = await openProvider(drivenAgents[kind].release.wire, [rule]);
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
