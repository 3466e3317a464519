import { totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Telemetry } from '../../agent.ts';
import { disagree } from '../usage-disagrees.ts';
import type { Collector } from './collector.ts';

/**
 * Telemetry from a file that the agent writes, events from what it prints or keeps. Where both count tokens, the events'
 * count is the turn's, and a file that says otherwise is a gap, `usage_mismatch`.
 */
export function fileBesideEvents(file: Collector, events: Collector): Collector {
  return {
    source: file.source,
    prepare(turn) {
      const { env } = events.prepare(turn);
      const prepared = file.prepare(turn);
      return { ...prepared, env: { ...env, ...prepared.env } };
    },
    ...(events.read && { read: (chunk: Buffer) => events.read?.(chunk) }),
    async collect(run) {
      const seen = await events.collect(run);
      const { telemetry } = await file.collect(run);
      const written = usageOf(telemetry);
      const usage = seen.usage ?? written;
      const total = telemetry.totalTokens ?? (written && totalTokens(written));
      const isOff = seen.usage && total !== undefined && disagree(total, totalTokens(seen.usage));
      const gaps = [...telemetry.evidenceGaps, ...(isOff ? ['usage_mismatch'] : [])];
      return { ...seen, ...present({ usage }), telemetry: { ...telemetry, evidenceGaps: gaps } };
    },
  };
}

/** What the file says; it has no word for what came from a cache. */
function usageOf({ promptTokens, completionTokens, reasoningTokens }: Telemetry): Usage | undefined {
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  return {
    inputTokens: promptTokens,
    outputTokens: completionTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, completionTokens) }),
  };
}
