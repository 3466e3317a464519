import type { Telemetry, Turn } from '@whetstone/agents';
import { type AgentFacts, addUsage, deriveAgentMetadata } from '@whetstone/events';
import { present } from '@whetstone/events/present';

/** Joins a session's turns: all events, sums of usage and cost (unknown where a part is), the last turn's end. */
export function joinTurns(turns: readonly Turn[]): Turn | undefined {
  const last = turns.at(-1);
  if (!last || turns.length === 1) return last;
  const { usage: _, costUsd: __, ...end } = last;
  const usage = sumIfKnown(turns, (turn) => turn.usage, addUsage);
  const costUsd = sumIfKnown(turns, (turn) => turn.costUsd, add);
  const telemetry = joinTelemetry(turns.flatMap((turn) => turn.telemetry ?? []));
  return {
    ...end,
    events: turns.flatMap((turn) => turn.events),
    facts: { ...Object.assign({}, ...turns.map(({ facts }) => facts)), ...joinFacts(turns, usage, costUsd) },
    ...present({ usage, costUsd, telemetry }),
  };
}

/** The facts that are sums, of all turns. */
function joinFacts(turns: readonly Turn[], usage: Turn['usage'], costUsd: number | undefined): AgentFacts {
  const metadata = turns.map(({ events, facts }) => deriveAgentMetadata(events, facts));
  const names = (one: Turn): string[] => Object.keys(one.facts ?? {});
  const stated = new Set(turns.flatMap(names));
  const sums: AgentFacts = {
    ...{ usage, costUsd },
    models: [...new Set(metadata.flatMap(({ models }) => models))],
    modelCalls: sumIfKnown(metadata, ({ modelCalls }) => modelCalls, add) ?? null,
  };
  return Object.fromEntries(Object.entries(sums).filter(([name]) => stated.has(name)));
}

/** A sum with an unknown part is unknown, so that nothing is understated. */
export function sumIfKnown<Part, Value extends object | number>(
  parts: readonly Part[],
  read: (part: Part) => Value | null | undefined,
  sum: (a: Value, b: Value) => Value,
): Value | undefined {
  const known = parts.flatMap((part) => read(part) ?? []) as Value[];
  return known.length === parts.length && known.length > 0 ? known.reduce(sum) : undefined;
}

export const add = (a: number, b: number): number => a + b;

const COUNTS = [
  'agentDurationSeconds',
  'promptTokens',
  'cachedInputTokens',
  'completionTokens',
  'totalTokens',
  'reasoningTokens',
  'reasoningStepCount',
  'toolCallCount',
  'commandCallCount',
] as const satisfies (keyof Telemetry)[];

function joinTelemetry(parts: readonly Telemetry[]): Telemetry | undefined {
  const last = parts.at(-1);
  if (!last) return undefined;
  const sums = COUNTS.map((name) => [name, sumIfKnown(parts, (part) => part[name], add)] as const);
  const byName = sumIfKnown(parts, (part) => part.toolCallsByName, addByName);
  const errors = parts.flatMap(({ error }) => error ?? []);
  const modelName = parts.findLast((part) => part.modelName !== undefined)?.modelName;
  return {
    status: joinStatus(parts.map(({ status }) => status)),
    source: last.source,
    ...Object.fromEntries(sums.filter(([, sum]) => sum !== undefined)),
    ...present({ toolCallsByName: byName, modelName }),
    ...(errors.length > 0 && { error: errors.join('\n') }),
    evidenceGaps: [...new Set(parts.flatMap(({ evidenceGaps }) => evidenceGaps))],
  };
}

function joinStatus(statuses: readonly Telemetry['status'][]): Telemetry['status'] {
  if (statuses.includes('error')) return 'error';
  const [first = 'unavailable', ...rest] = new Set(statuses);
  return rest.length === 0 ? first : 'partial';
}

export function addByName(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const sums = new Map(Object.entries(a));
  for (const [name, calls] of Object.entries(b)) sums.set(name, (sums.get(name) ?? 0) + calls);
  return Object.fromEntries(sums);
}
