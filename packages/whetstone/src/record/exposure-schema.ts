import { z } from 'zod';

const firstUseSchema = z
  .object({
    /** Of its `action.called` among the turn's events, from 0. */
    event_index: z.number().int(),
    at: z.string().nullable(),
    /** Of the same event. */
    call_id: z.string(),
  })
  .nullable();

const skillExposureSchema = z.object({
  name: z.string(),
  /** Whether a model request told of the skill. */
  listed: z.boolean().nullable(),
  /** `attempted`: the agent asked for it and did not get it. */
  triggered: z.enum(['confirmed', 'attempted', 'no']),
  first: firstUseSchema,
  /** Of what the agent got at the first time. */
  tokens_estimate: z.number().int().nullable(),
});

/**
 * What an agent came to see of what its variant declares (docs/context.md). What only a gateway can tell is `null` where
 * none saw the agent's requests. Tokens are estimates: four characters each.
 */
export const exposureSchema = z.object({
  instructions: z
    .object({
      /** In the workspace. */
      path: z.string(),
      /** How much of the text stood in a model request. */
      in_requests: z.enum(['whole', 'part', 'no']).nullable(),
      /** The `id` of the first such call in `model-calls.jsonl`. */
      first_call: z.string().nullable(),
      /** The first time that the agent read the file with a tool, beside what it is given at the start. */
      read: firstUseSchema,
      /** Of the text, once. */
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
      /** Of all results. */
      tokens_estimate: z.number().int(),
    }),
  ),
  /** Older rows have none. */
  plugins: z
    .array(
      z.object({
        name: z.string(),
        version: z.string().nullable(),
        /**
         * `true`: the agent said so, or a model request told of one of its skills, MCP tools or texts. `false`: requests
         * were seen, and none told of its skills and MCP tools. `null`: nothing can tell.
         */
        loaded: z.boolean().nullable(),
        /** That it brings; the same fields as those of the variant. */
        skills: z.array(skillExposureSchema),
      }),
    )
    .default([]),
});

export type Exposure = z.infer<typeof exposureSchema>;
export type FirstUse = NonNullable<z.infer<typeof firstUseSchema>>;
