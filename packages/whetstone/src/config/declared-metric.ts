import { z } from 'zod';

/** What a run can declare as the one metric of its comparisons. `cost`, `tokens` and `seconds`: less is better. */
export const declaredMetric = z.enum(['pass_rate', 'score', 'cost', 'tokens', 'seconds']);

export type DeclaredMetric = z.infer<typeof declaredMetric>;

/** `5pp` of a rate, `10%` of an amount: differences up to this size count as none. */
export const declaredMargin = z
  .string()
  .regex(
    /^\d+(?:\.\d+)?\s*(?:pp|%)$/,
    'must be a number of points such as 5pp, or for amounts a percentage such as 10%',
  )
  .refine(
    (text) => Number.parseFloat(text) > 0 && Number.parseFloat(text) < 100,
    'must be between 0 and 100',
  );

/**
 * The margin as a fraction, 0.05 for `5pp`. `problem`: the unit is not the one of the metric.
 */
export function readMargin(
  text: string,
  metric: DeclaredMetric | undefined = 'pass_rate',
): { margin: number } | { problem: string } {
  const unit = metric === 'pass_rate' || metric === 'score' ? 'pp' : '%';
  const number = Number.parseFloat(text);
  if (text.endsWith(unit)) return { margin: number / 100 };
  return {
    problem: `must be in ${unit === 'pp' ? 'points' : 'per cent'} for the metric ${metric}, such as ${number}${unit}`,
  };
}
