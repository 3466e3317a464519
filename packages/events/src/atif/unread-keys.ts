import type { LossTally } from '../loss.ts';
import type { ReadableStep, ReadableTrajectory } from './readable.ts';
import {
  ATIF_MINORS,
  atifAgentSchema,
  atifMetricsSchema,
  atifResultSchema,
  atifStepSchema,
  atifToolCallSchema,
  atifTrajectoryShape,
} from './schema.ts';

/** Reports the keys of a document that no event has: keys of the format, and unknown keys. */
export function loseOfTrajectory(trajectory: ReadableTrajectory, losses: LossTally): void {
  loseUnknown('trajectory', trajectory, { shape: atifTrajectoryShape }, losses);
  loseUnknown('agent', trajectory.agent, atifAgentSchema, losses);
  const minor = Number(trajectory.schema_version.split('.')[1]);
  if (!ATIF_MINORS.some((known) => known === minor))
    losses.add(`schema_version ${trajectory.schema_version}`, 'read as the newest known version');
  loseUnmapped('trajectory', trajectory, ['extra', 'continued_trajectory_ref'], losses);
  loseUnmapped('agent', trajectory.agent, ['extra', 'tool_definitions'], losses);
}

export function loseOfStep(step: ReadableStep, annotated: boolean, losses: LossTally): void {
  loseUnknown('step', step, atifStepSchema, losses);
  loseUnmapped('step', step, ['reasoning_effort'], losses);
  const extras = Object.keys(step.extra ?? {}).length - (annotated ? 1 : 0);
  losses.add('step.extra', 'events have no place for it', extras > 0 ? 1 : 0);
  for (const call of step.tool_calls ?? []) {
    loseUnknown('tool_call', call, atifToolCallSchema, losses);
    loseUnmapped('tool_call', call, ['extra'], losses);
  }
  for (const result of step.observation?.results ?? []) {
    loseUnknown('result', result, atifResultSchema, losses);
    loseUnmapped('result', result, ['extra'], losses);
  }
  if (!step.metrics) return;
  loseUnknown('metrics', step.metrics, atifMetricsSchema, losses);
  loseUnmapped('metrics', step.metrics, ['prompt_token_ids', 'completion_token_ids', 'logprobs'], losses);
  const known = ['cache_write_tokens', 'reasoning_tokens', 'latency_ms'];
  const others = Object.keys(step.metrics.extra ?? {}).filter((key) => !known.includes(key));
  losses.add('metrics.extra', 'events have no place for it', others.length > 0 ? 1 : 0);
}

type Owned = Record<string, unknown>;

function loseUnknown(owner: string, object: Owned, { shape }: { shape: object }, losses: LossTally): void {
  for (const key of Object.keys(object)) {
    if (!Object.hasOwn(shape, key)) losses.add(`${owner}.${key}`, 'an unknown key');
  }
}

function loseUnmapped(owner: string, object: Owned, keys: readonly string[], losses: LossTally): void {
  for (const key of keys) {
    if (object[key] != null) losses.add(`${owner}.${key}`, 'events have no place for it');
  }
}
