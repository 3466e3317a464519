import { present } from '@whetstone/events/present';
import type { StoredAudit } from '../record/audits.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { type CaseResult, countOutcomes } from './case-results.ts';
import { categoryCells } from './category-cells.ts';
import { findCaveats, isReused, isScripted, isUnverified } from './caveats.ts';
import { armsOf, compareArms } from './compare-arms.ts';
import { driftOf } from './drift.ts';
import { groupFailures } from './group-failures.ts';
import { headline } from './headline.ts';
import { aboutMissingData } from './missing-data.ts';
import { resultsOfRun, type SequentialState, sequentialState } from './sequential.ts';
import { auditOfRun } from './suite-audit.ts';
import type { Cell, Sequential, Summary } from './summary.ts';
import { describeMetric, metricOf } from './task-values.ts';
import { aboutUnplannedLooks } from './unplanned-look.ts';
import { verifierNoise } from './verifier-noise.ts';

/** Every number of the reports of a run, from its manifest, the rows so far, in any order, and audits. Deterministic. */
export function summarize(
  manifest: Manifest,
  rows: readonly CaseRow[],
  audits: readonly StoredAudit[] = [],
): Summary {
  const cases = resultsOfRun(manifest, rows);
  const kind = metricOf(manifest);
  const metric = describeMetric(kind, manifest.trials);
  const arms = armsOf(cases, kind);
  const counts = countOutcomes(cases);
  const cells = countCells(cases);
  const sequential = sequentialState(manifest, cases);
  const comparisons =
    sequential?.comparisons ?? compareArms(arms, manifest, { metric, margin: manifest.equivalence });
  const reused = cases.filter(isReused).length;
  const known = {
    cases: {
      ...{ planned: cases.length, finished: cases.length - counts.missing - counts.not_run, ...counts },
      ...(reused > 0 && { reused }),
    },
    comparisons,
    baseline: manifest.baseline,
    metric,
    scripted_model: isScripted(manifest),
  };
  return {
    schema_version: '1',
    run_id: manifest.run_id,
    ...present({ audit: auditOfRun(manifest, audits) }),
    created_at: manifest.created_at,
    headline: headline(known),
    isolation: manifest.isolation,
    ...known,
    ...(sequential && { sequential: sequentialPart(sequential) }),
    arms: arms.map((one) => one.arm),
    cells,
    categories: categoryCells(cells, rows),
    failures: groupFailures(cases),
    drift: driftOf(cases, manifest.trials),
    ...present({ verifier: verifierNoise(cases) ?? undefined }),
    unverified: cases.filter(isUnverified).length,
    caveats: [
      ...aboutUnplannedLooks(comparisons),
      ...aboutMissingData(comparisons),
      ...findCaveats(manifest, cases),
    ],
  };
}

const sequentialPart = ({
  looks,
  done,
  planned_tasks,
  analysed_tasks,
  ended,
}: SequentialState): Sequential => ({
  ...{ looks, done, planned_tasks, analysed_tasks, ended },
});

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
