import { z } from 'zod';

const firstUseSchema = z
  .object({
    /** Index of its `action.called` among the events of the turn, from 0. */
    event_index: z.number().int(),
    at: z.string().nullable(),
    /** `callId` of the same event. */
    call_id: z.string(),
  })
  .nullable();

const skillExposureSchema = z.object({
  name: z.string(),
  /** Whether a model request listed the skill. */
  listed: z.boolean().nullable(),
  /** `attempted`: the agent asked for the skill and did not get it. */
  triggered: z.enum(['confirmed', 'attempted', 'no']),
  first: firstUseSchema,
  /** Tokens of what the agent got the first time. */
  tokens_estimate: z.number().int().nullable(),
});

/**
 * What an agent saw of the context that its variant declares (docs/context.md). Fields that only a gateway can know are
 * `null` where no gateway saw the requests of the agent. Tokens are estimates: four characters are one token.
 */
export const exposureSchema = z.object({
  instructions: z
    .object({
      /** Path in the workspace. */
      path: z.string(),
      /** How much of the text was in a model request. */
      in_requests: z.enum(['whole', 'part', 'no']).nullable(),
      /** `id` of the first such call in `model-calls.jsonl`. */
      first_call: z.string().nullable(),
      /** The first time that the agent read the file with a tool, besides getting the text at the start. */
      read: firstUseSchema,
      /** Tokens of the text, counted once. */
      tokens_estimate: z.number().int(),
    })
    .nullable(),
  skills: z.array(skillExposureSchema),
  mcp_servers: z.array(
    z.object({
      name: z.string(),
      /** Whether a model request offered or named one of its tools. */
      offered: z.boolean().nullable(),
      calls: z.number().int(),
      failures: z.number().int(),
      first: firstUseSchema,
      /** Tokens of all results. */
      tokens_estimate: z.number().int(),
    }),
  ),
  /** Rows of older versions have no plugins. */
  plugins: z
    .array(
      z.object({
        name: z.string(),
        version: z.string().nullable(),
        /** `true`: the agent reported it, or a request had part of it. `false`: no request had. `null`: unknown. */
        loaded: z.boolean().nullable(),
        /** The skills of the plugin, with the same fields as the skills of the variant. */
        skills: z.array(skillExposureSchema),
      }),
    )
    .default([]),
});

export type Exposure = z.infer<typeof exposureSchema>;
export type FirstUse = NonNullable<z.infer<typeof firstUseSchema>>;
