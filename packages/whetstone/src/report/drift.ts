import { type Trend, trend } from '../stats/trend.ts';
import type { CaseResult } from './case-results.ts';
import type { Drift } from './summary.ts';

/**
 * Whether outcomes depend on when their block started, per agent. A block has all variants of one task and trial, so that
 * a drift affects all arms alike; but a provider that changes in the middle of a run is not the one that a reader has in
 * mind. With several trials, each task is compared only with itself.
 */
export function driftOf(cases: readonly CaseResult[], trials: number): Drift[] {
  return [...Map.groupBy(cases, (one) => one.agent_name)].flatMap(([agent, ofAgent]) => {
    const blocks = [...Map.groupBy(ofAgent, (one) => one.block).values()].flatMap(blockOf);
    const inOrder = blocks.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const strata = trials > 1 ? [...Map.groupBy(inOrder, ({ task }) => task).values()] : [inOrder];
    const found: Trend | null = trend(strata.map((stratum) => stratum.map(({ passed }) => passed)));
    if (!found || found.pValue === null) return [];
    // A line through rates that jump is steeper than a rate can change.
    return [
      {
        agent,
        blocks: blocks.length,
        change: Math.max(-1, Math.min(1, found.change)),
        p_value: found.pValue,
      },
    ];
  });
}

/** When the first case of a block started, and the share of its arms that passed; nothing where one has no result. */
function blockOf(block: readonly CaseResult[]) {
  const rows = block.flatMap(({ row }) =>
    row?.outcome === 'passed' || row?.outcome === 'failed' ? [row] : [],
  );
  const [first] = rows;
  if (!first || rows.length < block.length || rows.some((row) => row.reused_from)) return [];
  const [at] = rows.flatMap((row) => row.started_at ?? []).sort();
  // Nobody knows when an imported block started.
  if (at === undefined) return [];
  return [
    {
      task: first.task_id,
      at,
      passed: rows.filter(({ outcome }) => outcome === 'passed').length / rows.length,
    },
  ];
}
