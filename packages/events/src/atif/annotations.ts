import { z } from 'zod';

/**
 * Details of our events that an ATIF step cannot hold. They are in the step's `extra.whetstone`: `extra` is the format's
 * place for a producer's own data, in every version since 1.0. Other readers ignore it.
 */
const annotationsSchema = z.object({
  turn: z.number().int().nonnegative().optional(),
  /** How many model calls the metrics are of, where that is not one; `null`: unknown. */
  modelCalls: z.number().int().positive().nullable().optional(),
  /** The usage came before the calls, not after them. */
  usageBeforeCalls: z.boolean().optional(),
  /** Calls whose input is not an object: `arguments` has it under `input`. */
  wrappedInputs: z.array(z.string()).optional(),
  /** One entry for each of the step's results, in order. */
  results: z
    .array(
      z.object({
        status: z.enum(['failed', 'rejected']).optional(),
        /** The content is JSON, because the output is not a string. */
        json: z.boolean().optional(),
        /** The event is `subagent.completed`, not `action.result`. */
        subagent: z.boolean().optional(),
        /** Not a result: the sub-agent had not ended, and the entry only refers to its trajectory. */
        pending: z.boolean().optional(),
      }),
    )
    .optional(),
  /** Calls that started a sub-agent; `action`: there was also a tool call. */
  subagents: z.array(z.object({ callId: z.string(), name: z.string(), action: z.boolean() })).optional(),
});

export type StepAnnotations = z.infer<typeof annotationsSchema>;

const KEY = 'whetstone';

export function annotationsOf(extra: unknown): StepAnnotations | undefined {
  if (typeof extra !== 'object' || extra === null || !(KEY in extra)) return undefined;
  const parsed = annotationsSchema.safeParse(extra[KEY]);
  return parsed.success ? parsed.data : undefined;
}

/** The `extra` of a step; `undefined` when there is nothing to add. */
export function extraWith(annotations: StepAnnotations): Record<string, unknown> | undefined {
  const said = Object.entries(annotations).filter(([, value]) => value !== undefined);
  return said.length === 0 ? undefined : { [KEY]: Object.fromEntries(said) };
}
