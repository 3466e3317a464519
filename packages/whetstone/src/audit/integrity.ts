import type { TaskAudit } from '../record/audits.ts';

export type Tally = { passed: number; runs: number };

/**
 * From 0 to 100: the share of cheats that fail × the share of mutants that fail × the share of refactors that pass. 0 where the
 * oracle fails, no work passes, or the grader disagrees with itself. What was not played counts as 1; `null` where the tree
 * without work was not judged.
 */
export function integrityOf(audit: Omit<TaskAudit, 'integrity' | 'seconds'>): number | null {
  const { oracle, nop, cheats, mutants, refactors, findings } = audit;
  if (nop === null || nop.runs === 0) return null;
  if (nop.passed > 0 || (oracle !== null && oracle.passed < oracle.runs)) return 0;
  if (findings.some(({ kind }) => kind === 'flaky')) return 0;
  const failing = (tally: Tally | null) =>
    tally === null || tally.runs === 0 ? 1 : (tally.runs - tally.passed) / tally.runs;
  const passing = refactors === null || refactors.runs === 0 ? 1 : refactors.passed / refactors.runs;
  return Math.round(1000 * failing(cheats) * failing(mutants) * passing) / 10;
}
