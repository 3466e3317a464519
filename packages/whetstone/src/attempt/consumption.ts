import type { Agent, Turn } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import { addUsage, deriveAgentMetadata, totalTokens, type Usage } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import type { Spending } from './add-spending.ts';
import { add, joinTurns, sumIfKnown } from './join-turns.ts';

type Driven = { agent: Pick<Agent, 'capabilities'>; agentConfig: AgentConfig };

/** What one attempt used, as far as it was seen: by the gateway where it saw calls, else by the agent. */
export function consumption({
  turns,
  calls,
  ...driven
}: Driven & { turns: readonly Turn[]; calls: readonly LedgerLine[] }): Spending {
  const turn = joinTurns(turns);
  const telemetry = turn?.telemetry;
  const reported = {
    reported_duration_seconds: telemetry?.agentDurationSeconds ?? null,
    reasoning_step_count: telemetry?.reasoningStepCount ?? null,
  };
  const metered = meteredCalls(calls);
  return {
    ...reported,
    ...(metered.length > 0 ? wireConsumption(metered, calls) : agentConsumption(turns, turn, driven)),
    ...commandsOf(turn, driven),
  };
}

/** The calls that a model answered, with known usage or not. */
const meteredCalls = (calls: readonly LedgerLine[]): LedgerLine[] =>
  calls.filter(
    ({ usage, flags }) => usage !== null || (flags.includes('unmetered') && !flags.includes('auxiliary')),
  );

function wireConsumption(metered: readonly LedgerLine[], calls: readonly LedgerLine[]) {
  const tools = calls.flatMap((call) => call.tools_called);
  return {
    usage_source: 'gateway' as const,
    ...tokens(sumIfKnown(metered, (call) => call.usage, addUsage)),
    cost_usd: calls.some((call) => call.flags.includes('unmetered'))
      ? null
      : (sumIfKnown(metered, (call) => call.cost_usd, add) ?? null),
    model_calls: metered.length,
    tool_calls: tools.length,
    tool_calls_by_name: countByName(tools),
    models: [...new Set(metered.flatMap((call) => call.model_answered ?? []))],
  };
}

function agentConsumption(turns: readonly Turn[], turn: Turn | undefined, driven: Driven) {
  const usage = sumIfKnown(turns, usageOf, addUsage);
  const metadata = turns.map(({ events, facts }) => deriveAgentMetadata(events, facts));
  const { modelName, totalTokens: total = null, toolCallCount, toolCallsByName } = turn?.telemetry ?? {};
  const tools = turn && showsTools(turn, driven) ? toolsIn(turn) : undefined;
  const models = [...metadata.flatMap((one) => one.models), modelName].filter(isNamed);
  return {
    usage_source: usage || total !== null ? ('agent' as const) : ('none' as const),
    ...tokens(usage),
    ...(!usage && { total_tokens: total }),
    cost_usd: turn?.costUsd ?? null,
    model_calls: sumIfKnown(metadata, ({ modelCalls }) => modelCalls, add) ?? null,
    tool_calls: toolCallCount ?? tools?.length ?? null,
    tool_calls_by_name: toolCallsByName ?? (tools ? countByName(tools) : null),
    models: [...new Set(models.length > 0 ? models : [askedModel(driven.agentConfig)].filter(isNamed))],
  };
}

/** The usage that a turn reports, in total or call by call. Unknown where its adapter reports that some is missing. */
function usageOf({ usage, events, telemetry }: Turn): Usage | undefined {
  if (telemetry?.evidenceGaps.includes('usage_missing')) return undefined;
  const calls = events.filter((event) => event.type === 'usage');
  return usage ?? sumIfKnown(calls, (call) => call.usage, addUsage);
}

/** Whether a tool call of the turn would be among its events. Without that, their absence means nothing. */
function showsTools({ events, telemetry }: Turn, { agent, agentConfig }: Driven): boolean {
  if (events.some(({ type }) => type === 'action.called')) return true;
  if (telemetry?.evidenceGaps.includes('tool_calls_missing')) return false;
  return agentConfig.runner !== 'module' || agent.capabilities.toolObservability === true;
}

const toolsIn = ({ events }: Turn): string[] =>
  events.flatMap((event) => (event.type === 'action.called' ? [event.name] : []));

function commandsOf(turn: Turn | undefined, driven: Driven) {
  const seen = turn && showsTools(turn, driven) ? deriveAgentMetadata(turn.events).commands.length : null;
  return { command_call_count: turn?.telemetry?.commandCallCount ?? seen };
}

/** More names than any agent has tools. */
const MOST_NAMES = 500;

function countByName(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const key = counts.has(name) || counts.size < MOST_NAMES ? name : 'other';
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function askedModel(config: AgentConfig): string | undefined {
  if (config.runner === 'driver') return config.driver.model;
  return config.runner === 'loop' ? config.loop.model : undefined;
}

const isNamed = (model: string | undefined): model is string => Boolean(model);

function tokens(usage: Usage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    cache_read_tokens: usage?.cacheReadTokens ?? null,
    cache_write_tokens: usage?.cacheWriteTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
    total_tokens: usage ? totalTokens(usage) : null,
  };
}
