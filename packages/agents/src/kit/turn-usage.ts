import { addUsage, type StreamEvent, type StreamEventOf, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Telemetry } from '../agent.ts';
import type { KeptRecord } from './kept-events.ts';
import type { Reading } from './output-reader.ts';
import { disagree } from './usage-disagrees.ts';

type UsageEvent = StreamEventOf<'usage'>;

const usagesIn = (events: readonly StreamEvent[]): UsageEvent[] =>
  events.filter((event) => event.type === 'usage');

const sumOf = (events: readonly UsageEvent[]): Usage | undefined =>
  events.reduce<Usage | undefined>((sum, { usage }) => (sum ? addUsage(sum, usage) : usage), undefined);

/** Usage with sub-agents. Unknown if the usage of a sub-agent is unknown. */
export function usageOfTurn(reading: Reading, kept: KeptRecord | undefined): Usage | undefined {
  if (reading.source === 'text' || !kept) return undefined;
  const usages = usagesIn(kept.events);
  const agentUsage =
    reading.summary.usage ?? sumOf(usages.filter(({ parentCallId }) => parentCallId === undefined));
  const subagentUsage = sumOf(usages.filter(({ parentCallId }) => parentCallId !== undefined));
  return agentUsage && subagentUsage ? addUsage(agentUsage, subagentUsage) : agentUsage;
}

/** Each model call of the turn; `undefined` unless they add up to its usage, so that none is missing. */
export function callsOfTurn(
  events: readonly StreamEvent[],
  kept: KeptRecord | undefined,
  usage: Usage | undefined,
): UsageEvent[] | undefined {
  const calls = kept?.calls ? [...kept.calls, ...usagesIn(kept.events)] : usagesIn(events);
  if (calls.some((call) => call.calls !== undefined && call.calls !== 1)) return undefined;
  const sum = sumOf(calls);
  return usage && sum && totalTokens(sum) === totalTokens(usage) ? calls : undefined;
}

/** The gap if events and telemetry file disagree on the tokens. The usage of the turn then follows the events. */
export function mismatch(
  seen: Usage | undefined,
  written: Usage | undefined,
  { source, totalTokens: total }: Telemetry,
): string[] {
  const counted = source === 'json-file' ? (total ?? (written && totalTokens(written))) : undefined;
  return seen && counted !== undefined && disagree(counted, totalTokens(seen)) ? ['usage_mismatch'] : [];
}

/** The usage in a telemetry file, whose prompt tokens include the cached ones. */
export function usageIn(telemetry: Telemetry): Usage | undefined {
  const { source, promptTokens, cachedInputTokens, completionTokens, reasoningTokens } = telemetry;
  if (source !== 'json-file' || promptTokens === undefined || completionTokens === undefined)
    return undefined;
  const cached = cachedInputTokens === undefined ? undefined : Math.min(cachedInputTokens, promptTokens);
  return {
    inputTokens: promptTokens - (cached ?? 0),
    outputTokens: completionTokens,
    ...present({ cacheReadTokens: cached }),
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, completionTokens) }),
  };
}
