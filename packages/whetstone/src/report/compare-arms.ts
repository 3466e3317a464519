import type { Manifest } from '../record/manifest.ts';
import type { CaseResult } from './case-results.ts';
import { compareVariants, type Declared } from './compare-variants.ts';
import { summarizeArm } from './summarize-arm.ts';
import type { Comparison, Metric, Summary } from './summary.ts';
import type { ArmCases } from './task-differences.ts';

/** The arms that cases belong to, in the order of their first case. */
export function armsOf(cases: readonly CaseResult[], metric: Metric): ArmCases[] {
  const groups = Map.groupBy(cases, (one) => JSON.stringify([one.agent_name, one.variant]));
  return [...groups.values()].flatMap((ofArm) => {
    const [first] = ofArm;
    if (!first) return [];
    return [{ arm: summarizeArm(first.agent_name, first.variant, { cases: ofArm, metric }), cases: ofArm }];
  });
}

/** Each variant against the baseline of the same agent. */
export function compareArms(
  arms: readonly ArmCases[],
  { baseline }: Pick<Manifest, 'baseline'>,
  { metric, ...declared }: Declared & { metric: Summary['metric'] },
): Comparison[] {
  const pairs = [...Map.groupBy(arms, ({ arm }) => arm.agent).values()].flatMap((ofAgent) => {
    const base = ofAgent.find(({ arm }) => arm.variant === baseline);
    if (!base) return [];
    return ofAgent.filter((one) => one !== base).map((variant) => ({ variant, baseline: base, metric }));
  });
  return compareVariants(pairs, declared);
}
