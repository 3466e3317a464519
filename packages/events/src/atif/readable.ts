import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { optional } from '../optional.ts';

/** The values that the reader uses have the right type; all others are free, because versions differ in their keys. */
const text = optional(z.string());
const count = optional(z.number().nonnegative());
const readableContent = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
  .nullish();

const readableResult = z.looseObject({
  source_call_id: text,
  content: readableContent,
  subagent_trajectory_ref: z.array(z.looseObject({ trajectory_id: text, trajectory_path: text })).nullish(),
});
const readableStep = z.looseObject({
  source: z.string(),
  message: readableContent,
  timestamp: text,
  model_name: text,
  reasoning_content: text,
  tool_calls: z
    .array(
      z.looseObject({
        tool_call_id: z.string(),
        function_name: z.string(),
        // Kept as it is, because copying it key by key would drop a key such as `__proto__`.
        arguments: z.custom<JsonObject>((value) => typeof value === 'object').nullish(),
      }),
    )
    .nullish(),
  observation: z.looseObject({ results: z.array(readableResult).nullish() }).nullish(),
  metrics: z
    .looseObject({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      cost_usd: count,
      extra: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
  is_copied_context: z.boolean().nullish(),
  llm_call_count: count,
});
export const readableTrajectory = z.looseObject({
  schema_version: z.string().regex(/^ATIF-v1\.\d+$/, 'not a version of ATIF 1'),
  session_id: text,
  trajectory_id: text,
  agent: z.looseObject({ name: z.string(), version: text, model_name: text }),
  steps: z.array(readableStep),
  notes: text,
  final_metrics: z
    .looseObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: count,
    })
    .nullish(),
  subagent_trajectories: z.array(z.unknown()).nullish(),
});

export type ReadableTrajectory = z.infer<typeof readableTrajectory>;
export type ReadableStep = z.infer<typeof readableStep>;
export type ReadableResult = z.infer<typeof readableResult>;
export type ReadableContent = z.infer<typeof readableContent>;
