import type { LossTally } from '../loss.ts';
import type { ReadableStep, ReadableTrajectory } from './readable.ts';
import {
  ATIF_MINORS,
  ATIF_TRAJECTORY_KEYS,
  atifAgentSchema,
  atifMetricsSchema,
  atifResultSchema,
  atifStepSchema,
  atifToolCallSchema,
} from './schema.ts';

/** Reports the keys of a document that no event has: keys of the format, and unknown keys. */
export function loseOfTrajectory(trajectory: ReadableTrajectory, losses: LossTally): void {
  loseUnknown('trajectory', trajectory, ATIF_TRAJECTORY_KEYS, losses);
  loseUnknown('agent', trajectory.agent, Object.keys(atifAgentSchema.shape), losses);
  const minor = Number(trajectory.schema_version.split('.')[1]);
  if (!ATIF_MINORS.some((known) => known === minor))
    losses.add(`schema_version ${trajectory.schema_version}`, 'read as the newest known version');
  const unmapped = (object: Record<string, unknown>, owner: string, keys: string[]) => {
    for (const key of keys) {
      if (object[key] != null) losses.add(`${owner}.${key}`, 'events have no place for it');
    }
  };
  unmapped(trajectory, 'trajectory', ['extra', 'continued_trajectory_ref']);
  unmapped(trajectory.agent, 'agent', ['extra', 'tool_definitions']);
}

export function loseOfStep(step: ReadableStep, annotated: boolean, losses: LossTally): void {
  loseUnknown('step', step, Object.keys(atifStepSchema.shape), losses);
  if (step.reasoning_effort != null) losses.add('step.reasoning_effort', 'events have no place for it');
  const extras = Object.keys(step.extra ?? {}).length - (annotated ? 1 : 0);
  losses.add('step.extra', 'events have no place for it', extras > 0 ? 1 : 0);
  for (const call of step.tool_calls ?? []) {
    loseUnknown('tool_call', call, Object.keys(atifToolCallSchema.shape), losses);
    if (call.extra != null) losses.add('tool_call.extra', 'events have no place for it');
  }
  for (const result of step.observation?.results ?? []) {
    loseUnknown('result', result, Object.keys(atifResultSchema.shape), losses);
    if (result.extra != null) losses.add('result.extra', 'events have no place for it');
  }
  if (!step.metrics) return;
  loseUnknown('metrics', step.metrics, Object.keys(atifMetricsSchema.shape), losses);
  for (const key of ['prompt_token_ids', 'completion_token_ids', 'logprobs']) {
    if (step.metrics[key] != null) losses.add(`metrics.${key}`, 'events have no place for it');
  }
  const known = ['cache_write_tokens', 'reasoning_tokens', 'latency_ms'];
  const others = Object.keys(step.metrics.extra ?? {}).filter((key) => !known.includes(key));
  losses.add('metrics.extra', 'events have no place for it', others.length > 0 ? 1 : 0);
}

function loseUnknown(
  owner: string,
  object: Record<string, unknown>,
  known: readonly string[],
  losses: LossTally,
): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) losses.add(`${owner}.${key}`, 'an unknown key');
  }
}
