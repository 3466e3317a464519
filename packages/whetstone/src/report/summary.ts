import type { Interval } from '../stats/interval.ts';

/**
 * `summary.json`: every number that any output shows. `summarize` makes it from the manifest and the rows; the
 * terminal, Markdown, JSON, CSV and JUnit outputs only lay it out.
 */
export type Summary = {
  schema_version: '1';
  run_id: string;
  created_at: string;
  baseline: string;
  /** What came out, in one sentence; never more than the verdicts say. */
  headline: string;
  isolation: { provider: string; level: number; processes: string; network: string; workspace: string };
  /** True when the model was a script: the numbers then say nothing about any real model. */
  scripted_model: boolean;
  cases: {
    planned: number;
    finished: number;
    passed: number;
    failed: number;
    error: number;
    missing: number;
  };
  /** One for each agent × variant, in plan order. */
  arms: Arm[];
  /** One for each agent × variant that is not the baseline. */
  comparisons: Comparison[];
  /** Counts of each agent × task × variant, in plan order. */
  cells: Cell[];
  failures: FailureGroup[];
  /** Cases with nothing that verified the work. */
  unverified: number;
  /** Sentences: what this run does not show. */
  caveats: string[];
};

export type Arm = {
  agent: string;
  variant: string;
  tasks: number;
  /** Finished cases whose outcome is passed or failed; errors are missing data. */
  trials: number;
  passed: number;
  failed: number;
  error: number;
  /** Planned and not finished. */
  missing: number;
  /** Retries after infrastructure errors, over all cases. */
  retries: number;
  /** Mean over tasks of the share of passed trials; `null` when no trial counts. */
  pass_rate: number | null;
  /** 95 %, tasks as clusters; `null` where no interval can be given. */
  pass_rate_interval: Interval | null;
  /** [passes / planned, (passes + errors + missing) / planned]: where the rate lies whatever the missing cases are. */
  bounds: [number, number];
  /**
   * With k the planned trials a task: the chance that any, and that all, of k trials of a task pass, as means over tasks.
   * `null` with one trial a task, and unless every task has all its trials.
   */
  pass_at_k: { k: number; any: number; all: number } | null;
  /** Median seconds of the agent alone. */
  median_agent_seconds: number | null;
  median_seconds: number | null;
  /** Mean number of changed files. */
  mean_changed_files: number | null;
  usage_source: 'gateway' | 'agent' | 'mixed' | 'none';
  /** Sum over the cases whose tokens are known. */
  total_tokens: number | null;
  /** Finished cases of which the tokens are not known. */
  tokens_unknown: number;
  /** Sum over the cases whose cost is known. */
  cost_usd: number | null;
  /** Finished cases of which the cost is not known. */
  cost_unknown: number;
  /** Cost of all cases over passed cases; `null` where a cost is not known or none passed. */
  cost_per_pass_usd: number | null;
};

export type Comparison = {
  agent: string;
  variant: string;
  baseline: string;
  /** Tasks with trials that count in both arms. */
  tasks: number;
  /** Mean over tasks of (variant's rate − baseline's rate); `null` when no task has both. */
  difference: number | null;
  interval: Interval | null;
  /** Two-sided sign-flip permutation test over tasks; `null` below two tasks. */
  p_value: number | null;
  /** The p-value after Holm's correction over the variants of this agent: what the verdict takes. */
  adjusted_p_value: number | null;
  /** Where the difference over all planned cases lies, whatever the cases without a result would have come to. */
  bounds: [number, number];
  /**
   * The smallest difference that this many tasks show with 80 % power; `null` where the spread over tasks is not known,
   * and where they can show none.
   */
  minimum_detectable_difference: number | null;
  /** Tasks that a difference of the observed size needs (80 % power); `null` with a verdict, or where it cannot be said. */
  tasks_needed: number | null;
  verdict: 'better' | 'worse' | 'inconclusive';
  /** What the verdict rests on, and for `inconclusive` how many tasks would settle a difference of this size. */
  sentence: string;
};

export type Cell = {
  agent: string;
  task: string;
  variant: string;
  passed: number;
  failed: number;
  error: number;
  missing: number;
};

export type FailureGroup = {
  class: string;
  count: number;
  cases: { case_id: string; agent: string; task: string; variant: string; trial: number; evidence: string }[];
};
