import type { Ratio } from '../stats/log-ratio.ts';
import type { GateResult } from './gate.ts';
import type { PassWorth } from './pass-worth.ts';
import type { RunDifference } from './run-differences.ts';
import type { Arm, Comparison, Summary } from './summary.ts';
import type { TaskCount } from './task-values.ts';

/** Two sides, paired by task. B is compared with A, so a positive difference says that B passes more. */
export type RunComparison = {
  schema_version: '1';
  a: SideFacts;
  b: SideFacts;
  /** The metric that both sides declare. */
  metric: Summary['metric'];
  pairs: PairComparison[];
  /** Each two variants that several agents have, pooled over them. */
  pooled: Comparison[];
  /** Arms that the other side has no counterpart of. */
  unpaired_arms: { side: 'a' | 'b'; agent: string; variant: string }[];
  /** Tasks that are not compared, in plan order: the other side lacks them, or has another content under the same id. */
  excluded_tasks: { task: string; why: 'only in A' | 'only in B' | 'changed' }[];
  /**
   * What the runs planned and this comparison leaves out, in sentences. Unless empty, its verdicts are exploratory: somebody
   * who has seen the results may have chosen what stays.
   */
  left_out: string[];
  /** What else differs between the two runs; empty within one run. */
  differences: RunDifference[];
  /** What the declared context of each arm came to, in sentences. */
  exposure: string[];
  /** What the comparison does not show, in sentences. */
  caveats: string[];
  gate: GateResult | null;
};

export type SideFacts = {
  label: string;
  run_id: string;
  created_at: string;
  /** What an audit found about the tasks, in a sentence. Absent: none of them was audited. */
  audit?: string;
};

export type PairComparison = {
  a: Arm;
  b: Arm;
  comparison: Comparison;
  /** Tasks whose pass rate differs, the largest gain of B first. None with early exit. */
  flips: { task: string; a: TaskCount; b: TaskCount }[];
  /** How many times as much B takes as A, per task and trial. Exploratory: makes no verdict. */
  ratios: { cost: Ratio | null; tokens: Ratio | null; seconds: Ratio | null };
  /** What B is worth more than A. Exploratory. Absent: nobody said what a pass is worth, or no cost is known. */
  value?: PassWorth;
  /** Cases by failure class, the most frequent first. */
  failures: { class: string; title: string; a: number; b: number }[];
};
