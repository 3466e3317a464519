import type { Plan, PlannedCase } from '../plan/plan.ts';
import type { RunRecord } from '../record/run-record.ts';
import { caseResults } from '../report/case-results.ts';
import { type SequentialState, sequentialState } from '../report/sequential.ts';

/** The cases that each look of a sequential run waits for, in starting order. Otherwise all at once. */
export function partsOf({ looks }: Plan, waiting: readonly PlannedCase[]): PlannedCase[][] {
  if (!looks) return [[...waiting]];
  return looks.map(({ tasks }) => waiting.filter(({ task }) => tasks.includes(task)));
}

/** What the looks say that can be taken by now; `null` where the run has none. */
export const takeLooks = ({ manifest, rows }: Pick<RunRecord, 'manifest' | 'rows'>): SequentialState | null =>
  sequentialState(manifest, caseResults(manifest, [...rows.values()]));
