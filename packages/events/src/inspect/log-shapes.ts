import { z } from 'zod';
import type { JsonValue } from '../json.ts';
import { optional } from '../optional.ts';

/** From Inspect's `log/_log.py`, `event/*.py`, `model/_chat_message.py`. A value of another shape is listed as lost. */
const text = optional(z.string());
const json = z.custom<JsonValue>((value) => value !== undefined);
const count = optional(z.number().int().nonnegative());
const seconds = optional(z.number().nonnegative());

export const modelUsageSchema = z.object({
  /** Without tokens read from or written to a cache. */
  input_tokens: count,
  output_tokens: count,
  input_tokens_cache_write: count,
  input_tokens_cache_read: count,
  reasoning_tokens: count,
  total_cost: optional(z.number().nonnegative()),
});
export type ModelUsage = z.infer<typeof modelUsageSchema>;

const contentPartSchema = z.object({
  type: z.string(),
  text,
  reasoning: text,
  summary: text,
  redacted: optional(z.boolean()),
  id: text,
  name: text,
  arguments: json.optional(),
  result: json.optional(),
  error: json.optional(),
});
export type ContentPart = z.infer<typeof contentPartSchema>;

const toolCallSchema = z.object({ id: z.string(), function: z.string(), arguments: json.optional() });

export const messageSchema = z.object({
  id: text,
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(contentPartSchema)]),
  tool_calls: z.array(toolCallSchema).nullish(),
  tool_call_id: z.union([z.string(), z.array(z.string())]).nullish(),
  error: z.object({ type: text, message: text }).nullish(),
  model: text,
});
export type Message = z.infer<typeof messageSchema>;

/** Ranges into the pool of messages, each half-open: `[[0, 3], [5, 6]]`. */
export const refsSchema = z.array(z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]));

const eventBase = { timestamp: text, span_id: text };

export const modelEventSchema = z.object({
  ...eventBase,
  model: z.string(),
  input: z.array(json).nullish(),
  input_refs: refsSchema.nullish(),
  output: z.object({
    model: text,
    choices: z.array(z.object({ message: json })).nullish(),
    usage: modelUsageSchema.nullish(),
    time: seconds,
    error: text,
  }),
  error: text,
  cache: text,
  call: json.nullish(),
  completed: text,
  working_time: seconds,
});
export type ModelEvent = z.infer<typeof modelEventSchema>;

export const toolEventSchema = z.object({
  ...eventBase,
  id: z.string(),
  function: z.string(),
  arguments: json.optional(),
  result: json.optional(),
  truncated: json.nullish(),
  error: z.object({ type: text, message: text }).nullish(),
  completed: text,
  failed: optional(z.boolean()),
  agent_span_id: text,
  pending: optional(z.boolean()),
});
export type ToolEvent = z.infer<typeof toolEventSchema>;

export const spanBeginSchema = z.object({
  ...eventBase,
  id: z.string(),
  parent_id: text,
  type: text,
  name: z.string(),
});
export const spanEndSchema = z.object({ ...eventBase, id: z.string() });
/** Older logs have these instead of spans. */
export const stepEventSchema = z.object({ ...eventBase, action: z.enum(['begin', 'end']), type: text });
export const approvalEventSchema = z.object({
  ...eventBase,
  call: z.object({ id: z.string(), function: z.string() }),
  approver: z.string(),
  decision: z.string(),
  explanation: text,
});
export const compactionEventSchema = z.object({ ...eventBase, tokens_before: count, tokens_after: count });
export const errorEventSchema = z.object({ ...eventBase, error: z.object({ message: z.string() }) });
export const sampleLimitEventSchema = z.object({ ...eventBase, type: text, message: text });
export const inputEventSchema = z.object({ ...eventBase, input: z.string() });
export const anyEventSchema = z.looseObject({ event: z.string(), ...eventBase });

/** A sample without its sequences: a whole sample, or the shell of a chunked one. */
export const sampleSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  epoch: z.number().int(),
  input: z.union([z.string(), z.array(json)]),
  messages: z.array(json).nullish(),
  events: z.array(json).nullish(),
  events_data: z.object({ messages: z.array(json).nullish() }).nullish(),
  attachments: z.record(z.string(), z.string()).nullish(),
  message_refs: refsSchema.nullish(),
  model_usage: z.record(z.string(), modelUsageSchema).nullish(),
  metadata: json.nullish(),
  scores: json.nullish(),
  error: z.object({ message: text }).nullish(),
});
export type Sample = z.infer<typeof sampleSchema>;

const evalSpecSchema = z.object({
  eval_id: text,
  run_id: text,
  task: text,
  task_id: text,
  model: text,
  created: text,
});
/** `header.json`, or `_journal/start.json` of an evaluation that has not ended. */
export const headerSchema = z.object({ version: optional(z.number()), status: text, eval: evalSpecSchema });
export const wholeLogSchema = z.object({
  ...headerSchema.shape,
  samples: z.array(json).nullish(),
});
