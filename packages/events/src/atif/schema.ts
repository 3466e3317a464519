import { z } from 'zod';

/** ATIF 1.0 to 1.8 (Harbor RFC 0001), as strict as its validator: no unknown keys, and none of a later version. */
export const ATIF_MINORS = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
export type AtifVersion = `1.${(typeof ATIF_MINORS)[number]}`;
export const LATEST_ATIF_VERSION: AtifVersion = '1.8';

const count = z.number().int().nonnegative();
const extra = z.record(z.string(), z.unknown()).optional();

const contentPartSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image'),
    source: z.strictObject({
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      path: z.string(),
    }),
  }),
  z.strictObject({
    type: z.literal('audio'),
    source: z.strictObject({
      media_type: z.string(),
      path: z.string(),
      duration_sec: z.number().optional(),
    }),
  }),
]);
const contentSchema = z.union([z.string(), z.array(contentPartSchema)]);

export const atifAgentSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  model_name: z.string().optional(),
  tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
  extra,
});

export const atifToolCallSchema = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra,
});

export const atifSubagentRefSchema = z.strictObject({
  trajectory_id: z.string().optional(),
  session_id: z.string().optional(),
  trajectory_path: z.string().optional(),
  extra,
});

export const atifResultSchema = z.strictObject({
  source_call_id: z.string().nullish(),
  content: contentSchema.nullish(),
  subagent_trajectory_ref: z.array(atifSubagentRefSchema).optional(),
  extra,
});

export const atifMetricsSchema = z.strictObject({
  /** All input tokens, including those read from and written to a cache. */
  prompt_tokens: count.optional(),
  completion_tokens: count.optional(),
  cached_tokens: count.optional(),
  cost_usd: z.number().nonnegative().optional(),
  prompt_token_ids: z.array(z.number().int()).optional(),
  completion_token_ids: z.array(z.number().int()).optional(),
  logprobs: z.array(z.number()).optional(),
  extra,
});

export const atifStepSchema = z.strictObject({
  step_id: z.number().int().positive(),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  source: z.enum(['system', 'user', 'agent']),
  message: contentSchema,
  model_name: z.string().optional(),
  reasoning_effort: z.union([z.string(), z.number()]).optional(),
  reasoning_content: z.string().optional(),
  tool_calls: z.array(atifToolCallSchema).optional(),
  observation: z.strictObject({ results: z.array(atifResultSchema) }).optional(),
  metrics: atifMetricsSchema.optional(),
  is_copied_context: z.boolean().optional(),
  llm_call_count: count.optional(),
  extra,
});
export type AtifStep = z.infer<typeof atifStepSchema>;
export type AtifResult = z.infer<typeof atifResultSchema>;
export type AtifMetrics = z.infer<typeof atifMetricsSchema>;

const finalMetricsSchema = z.strictObject({
  total_prompt_tokens: count.optional(),
  total_completion_tokens: count.optional(),
  total_cached_tokens: count.optional(),
  total_cost_usd: z.number().nonnegative().optional(),
  total_steps: count.optional(),
  extra,
});

const trajectoryShape = {
  schema_version: z.literal(ATIF_MINORS.map((minor) => `ATIF-v1.${minor}`)),
  /** The id of the session; several documents may share it. Required before 1.7. */
  session_id: z.string().optional(),
  /** The id of this document. */
  trajectory_id: z.string().optional(),
  agent: atifAgentSchema,
  steps: z.array(atifStepSchema).min(1),
  notes: z.string().optional(),
  final_metrics: finalMetricsSchema.optional(),
  continued_trajectory_ref: z.string().optional(),
  extra,
};

export type AtifTrajectory = z.infer<z.ZodObject<typeof trajectoryShape, z.core.$strict>> & {
  subagent_trajectories?: AtifTrajectory[] | undefined;
};

/** Checks a document by the rules of the version that it names. */
export const atifTrajectorySchema: z.ZodType<AtifTrajectory> = z.lazy(() =>
  z.strictObject(atifTrajectoryShape).superRefine((trajectory, context) => {
    for (const { path, message } of brokenRules(trajectory)) {
      context.addIssue({ code: 'custom', path, message });
    }
  }),
);

export const atifTrajectoryShape = {
  ...trajectoryShape,
  subagent_trajectories: z.array(atifTrajectorySchema).optional(),
};

type BrokenRule = { path: (string | number)[]; message: string };

function brokenRules(trajectory: AtifTrajectory): BrokenRule[] {
  const minor = Number(trajectory.schema_version.split('.')[1]);
  const broken: BrokenRule[] = trajectory.steps.flatMap((step, index) =>
    brokenStepRules(step, index, minor).map(({ path, message }) => ({
      path: ['steps', index, ...path],
      message,
    })),
  );
  const since = (version: number, key: keyof AtifTrajectory) => {
    if (minor < version && trajectory[key] !== undefined) broken.push(tooNew([key], version));
  };
  since(1, 'extra');
  since(7, 'trajectory_id');
  since(7, 'subagent_trajectories');
  if (minor < 7 && trajectory.session_id === undefined) {
    broken.push({ path: ['session_id'], message: 'required before 1.7' });
  }
  if (minor < 5 && trajectory.agent.tool_definitions) broken.push(tooNew(['agent', 'tool_definitions'], 5));
  const ids = (trajectory.subagent_trajectories ?? []).map((embedded) => embedded.trajectory_id);
  if (ids.includes(undefined) || new Set(ids).size < ids.length) {
    broken.push({ path: ['subagent_trajectories'], message: 'each needs a trajectory_id of its own' });
  }
  return broken;
}

function brokenStepRules(step: AtifStep, index: number, minor: number): BrokenRule[] {
  const broken: BrokenRule[] = [];
  const rule = (holds: boolean, key: string, message: string) => {
    if (!holds) broken.push({ path: [key], message });
  };
  rule(step.step_id === index + 1, 'step_id', 'steps count from 1 without a gap');
  for (const key of [
    'model_name',
    'reasoning_effort',
    'reasoning_content',
    'tool_calls',
    'metrics',
  ] as const) {
    rule(step.source === 'agent' || step[key] === undefined, key, 'only agent steps have it');
  }
  const called = new Set(step.tool_calls?.map((call) => call.tool_call_id));
  for (const result of step.observation?.results ?? []) {
    const known = result.source_call_id == null || called.has(result.source_call_id);
    rule(known, 'observation', `no tool call of this step has the id ${result.source_call_id}`);
    for (const ref of result.subagent_trajectory_ref ?? []) {
      const resolvable = ref.trajectory_id !== undefined || ref.trajectory_path !== undefined;
      rule(minor < 7 || resolvable, 'observation', 'a reference needs a trajectory_id or a trajectory_path');
      rule(minor >= 7 || ref.session_id !== undefined, 'observation', 'a reference needs a session_id');
    }
    rule(minor >= 7 || result.extra === undefined, 'observation', 'extra of a result needs 1.7');
  }
  const withoutModel = step.metrics === undefined && step.reasoning_content === undefined;
  rule(
    step.llm_call_count !== 0 || withoutModel,
    'llm_call_count',
    'with 0 there are no metrics and no reasoning',
  );
  rule(minor >= 7 || step.llm_call_count === undefined, 'llm_call_count', 'of 1.7');
  rule(minor >= 5 || step.is_copied_context === undefined, 'is_copied_context', 'of 1.5');
  rule(minor >= 6 || typeof step.message === 'string', 'message', 'content parts need 1.6');
  const callExtra = step.tool_calls?.some((call) => call.extra !== undefined) ?? false;
  rule(minor >= 7 || !callExtra, 'tool_calls', 'extra of a tool call needs 1.7');
  return broken;
}

function tooNew(path: string[], minor: number): BrokenRule {
  return { path, message: `needs version 1.${minor}` };
}
