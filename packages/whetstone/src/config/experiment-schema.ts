import { name, text } from '@whetstone/agents/config';
import { z } from 'zod';
import { declaredMargin, declaredMetric } from './declared-metric.ts';

const functionSchema = z.custom<(...given: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
);

const amount = z
  .number()
  .refine((value) => value > 0, 'must be more than 0')
  .nullish();

/**
 * The keys of `defineExperiment`. `agent` is code or the options of an agent, and `variants`, `sandbox` and `judge` have
 * the keys of a YAML file: they are checked by what reads them.
 */
export const experimentSchema = z.object({
  agent: z.unknown().optional(),
  model: name.nullish(),
  runs: z.int().min(1).nullish(),
  flags: z.record(z.string(), z.unknown()).nullish(),
  metric: declaredMetric.nullish(),
  equivalence: declaredMargin.nullish(),
  earlyExit: z.boolean().nullish(),
  evals: z
    .union([text, z.array(text)])
    .or(functionSchema)
    .nullish(),
  variants: z.record(z.string(), z.unknown()).nullish(),
  sandbox: z.unknown().optional(),
  judge: z.unknown().optional(),
  budget: amount,
  timeoutMs: amount,
  setup: functionSchema.nullish(),
  teardown: functionSchema.nullish(),
});
