import { writeFileSync } from 'node:fs';
import type { Turn } from '@whetstone/agents';
import { enforcedOn } from '@whetstone/agents/evaluator';
import { deriveAgentMetadata } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { consumption } from './consumption.ts';
import type { Attempt, Lab, Trace } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** Writes `agent.json`: what the agent did (`AgentMetadata`), and what it saw of the context of its variant. */
export function keepMetadata(
  { events, facts }: Turn,
  { attempt, lab, trace, file }: { attempt: Attempt; lab: Lab; trace: Trace; file: string },
): void {
  const { agent, agentConfig } = attempt;
  const { isolation, agents } = lab.record.manifest;
  const { version } = agents.find(({ name }) => name === agentConfig.name) ?? {};
  const derived = deriveAgentMetadata(events, facts);
  const { models } = consumption({ turns: trace.turns, calls: trace.calls, agent, agentConfig });
  const metadata = {
    runtimeVersion: /\d+\.\d+(?:[.\w+-]*\w)?/.exec(version ?? '')?.[0] ?? 'unknown',
    approvalPolicy: 'unknown',
    ...derived,
    models: models.length > 0 ? models : derived.models,
    ...enforcedOn(facts, isolation),
    ...present({ exposure: trace.exposure }),
  };
  const kept = maskValues(metadata, lab.mask);
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
}
