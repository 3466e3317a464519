import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { type CaseResult, caseResults, countOutcomes } from './case-results.ts';
import { findCaveats, isReused, isScripted, isUnverified } from './caveats.ts';
import { compareVariants } from './compare-variants.ts';
import { groupFailures } from './group-failures.ts';
import { headline } from './headline.ts';
import { summarizeArm } from './summarize-arm.ts';
import type { Cell, Metric, Summary } from './summary.ts';
import type { ArmCases } from './task-differences.ts';
import { describeMetric, metricOf } from './task-values.ts';

/** Every number of the reports of a run, from its manifest and the rows so far, in any order. Deterministic. */
export function summarize(manifest: Manifest, rows: readonly CaseRow[]): Summary {
  const cases = caseResults(manifest, rows);
  const metric = metricOf(manifest);
  const arms = summarizeArms(cases, metric);
  const counts = countOutcomes(cases);
  const described = describeMetric(metric, manifest.trials);
  const comparisons = compareArms(arms, manifest, described);
  const reused = cases.filter(isReused).length;
  const known = {
    cases: {
      ...{ planned: cases.length, finished: cases.length - counts.missing - counts.not_run, ...counts },
      ...(reused > 0 && { reused }),
    },
    comparisons,
    baseline: manifest.baseline,
    metric: described,
    scripted_model: isScripted(manifest),
  };
  return {
    schema_version: '1',
    run_id: manifest.run_id,
    created_at: manifest.created_at,
    headline: headline(known),
    isolation: manifest.isolation,
    ...known,
    arms: arms.map((one) => one.arm),
    cells: countCells(cases),
    failures: groupFailures(cases),
    unverified: cases.filter(isUnverified).length,
    caveats: findCaveats(manifest, cases),
  };
}

function summarizeArms(cases: readonly CaseResult[], metric: Metric): ArmCases[] {
  return grouped(cases, (one) => [one.agent_name, one.variant]).map(([first, ofArm]) => ({
    arm: summarizeArm(first.agent_name, first.variant, { cases: ofArm, metric }),
    cases: ofArm,
  }));
}

function compareArms(
  arms: readonly ArmCases[],
  { baseline, equivalence: margin }: Manifest,
  metric: Summary['metric'],
): Summary['comparisons'] {
  const pairs = [...Map.groupBy(arms, ({ arm }) => arm.agent).values()].flatMap((ofAgent) => {
    const base = ofAgent.find(({ arm }) => arm.variant === baseline);
    if (!base) return [];
    return ofAgent.filter((one) => one !== base).map((variant) => ({ variant, baseline: base, metric }));
  });
  return compareVariants(pairs, { margin });
}

function countCells(cases: readonly CaseResult[]): Cell[] {
  return grouped(cases, (one) => [one.agent_name, one.task_id, one.variant]).map(([first, ofCell]) => ({
    agent: first.agent_name,
    task: first.task_id,
    variant: first.variant,
    ...countOutcomes(ofCell),
  }));
}

/** The groups in the order of their first case, each with that case. */
function grouped(cases: readonly CaseResult[], key: (one: CaseResult) => string[]) {
  const groups = Map.groupBy(cases, (one) => JSON.stringify(key(one)));
  return [...groups.values()].flatMap((group) => (group[0] ? [[group[0], group] as const] : []));
}
