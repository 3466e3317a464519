import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { resultsOfRun } from '../report/sequential.ts';
import type { CaseEntry, CaseLine, CaseTable } from './api.ts';

/** All cases of a run in planned order. */
export function caseTable(manifest: Manifest, rows: readonly CaseRow[]): CaseTable {
  const indices = new Map<string, number>();
  const indexOf = (text: string): number => {
    const known = indices.get(text);
    if (known !== undefined) return known;
    indices.set(text, indices.size);
    return indices.size - 1;
  };
  const maybe = (text: string | null | undefined) => (text == null ? null : indexOf(text));
  const lines = resultsOfRun(manifest, rows).map(
    ({ case_id, agent_name, task_id, variant, trial_index, row, notRun }): CaseLine => [
      case_id,
      indexOf(agent_name),
      indexOf(task_id),
      indexOf(variant),
      trial_index,
      notRun ? 'not_run' : (row?.outcome ?? null),
      maybe(row?.failure_class),
      maybe(row?.evidence),
      row?.agent_duration_seconds ?? null,
      row?.total_tokens ?? null,
      row?.cost_usd ?? null,
    ],
  );
  return { texts: [...indices.keys()], lines };
}

/** A line with its names. */
export function caseEntry(
  { texts }: CaseTable,
  [case_id, agent, task, variant, trial_index, outcome]: CaseLine,
): CaseEntry {
  const name = (index: number) => texts[index] ?? '';
  return {
    case_id,
    agent_name: name(agent),
    task_id: name(task),
    variant: name(variant),
    trial_index,
    outcome,
  };
}
