import type { Interval } from '../stats/interval.ts';
import type { SuiteSummary } from './suite-audit.ts';

/**
 * What comparisons are about. `score`: the share of the points of assertions. `pass_at_k`: whether any of the planned trials
 * passed, which trials that did not run after a pass leave as it is. `cost` (US dollars), `tokens` and `seconds` of the
 * agent: amounts, of which less is better.
 */
export type Metric = 'pass_rate' | 'score' | 'pass_at_k' | 'cost' | 'tokens' | 'seconds';

/** `summary.json`: every number that any output shows. The outputs only format it. */
export type Summary = {
  schema_version: '1';
  run_id: string;
  created_at: string;
  baseline: string;
  /**
   * The one metric that the comparisons test, declared before the first case. All other numbers only describe. `unit` of
   * differences: points for rates (a difference of 0.1 is 10 pp), else the relative change (−0.2: 20 % less).
   */
  metric: { kind: Metric; title: string; unit: 'pp' | '%' };
  /** Absent: not a sequential run. */
  sequential?: Sequential;
  /** The result in one or two sentences. It never claims more than the verdicts. */
  headline: string;
  isolation: {
    provider: string;
    level: number;
    processes: string;
    network: string;
    workspace: string;
    /** Whether a case sees other cases, and what lies above its workspace. Absent in runs of older versions. */
    neighbours?: string | undefined;
    parents?: string | undefined;
    /** The container that commands ran in. `digest`: of the image at its registry; `null`: it was made on that machine. */
    container?: { name: string; id: string; digest: string | null; runtime: string | null } | undefined;
    /** The hosts that commands reached beside the gateway, and those of `setup` and `prepare`. */
    hosts?: string[] | undefined;
    setup_hosts?: string[] | undefined;
    /** Of all commands of a case together; `null`: not limited. */
    limits?:
      | {
          memory_bytes: number | null;
          processes: number | null;
          cpus: number | null;
          disk_bytes?: number | null | undefined;
        }
      | undefined;
    /** What was tried from inside before the first case. Absent for sandboxes that do not confine. */
    probes?: { attack: string; reached: boolean }[] | undefined;
    /** The configuration left the choice. `reasons`: why the sandbox is nothing stronger; empty: nothing is stronger. */
    auto?: { reasons: string[] } | undefined;
    /** What a command of this sandbox can do to the machine: words after "could". Not tried. */
    reachable?: string[] | undefined;
  };
  /** What an audit found about the tasks. Absent: none of them was audited. */
  audit?: SuiteSummary;
  /** Whether the model was a script. The numbers then say nothing about a real model. */
  scripted_model: boolean;
  /** `reused`: how many of the finished cases are results of earlier runs; absent: none. */
  cases: OutcomeCounts & { planned: number; finished: number; reused?: number };
  /** One for each agent × variant, in plan order. */
  arms: Arm[];
  /** One for each agent × variant that is not the baseline. */
  comparisons: Comparison[];
  /** Counts of each agent × task × variant, in plan order. */
  cells: Cell[];
  /**
   * Counts of each agent × category of tasks × variant, in plan order. Empty where fewer than two categories are known: a
   * category is known once a case of one of its tasks has finished.
   */
  categories: CategoryCell[];
  failures: FailureGroup[];
  /** One for each agent where it can be tested. */
  drift: Drift[];
  /** How far verifications of the same tree disagree. Absent: no tree was verified twice. */
  verifier?: VerifierNoise;
  /** Cases in which nothing verified the work. */
  unverified: number;
  /** What this run does not show, in sentences. */
  caveats: string[];
};

/** How far a sequential run has come. Its comparisons are those of the looks that were taken. */
export type Sequential = {
  looks: number;
  /** Looks that were taken. */
  done: number;
  planned_tasks: number;
  /** Tasks of the looks that were taken. */
  analysed_tasks: number;
  /** Why it ended before the last look: all was decided, or nothing had a chance to be. `null`: it did not. */
  ended: 'decided' | 'futile' | null;
};

export type PassAtK = {
  k: number;
  any: number;
  any_interval: Interval | null;
  all: number | null;
  all_interval: Interval | null;
};

/** Whether later blocks of an agent's cases passed more or less often. */
export type Drift = {
  agent: string;
  /** Blocks with a result of every variant. */
  blocks: number;
  /** Of the pass rate, from the first block to the last one. */
  change: number;
  /** Two-sided: stratified permutation of the order. Exploratory. */
  p_value: number;
};

/** How many cases have each outcome. Errors and missing cases are missing data, not failures; skipped cases are neither. */
export type OutcomeCounts = {
  passed: number;
  failed: number;
  error: number;
  /** Cases of evals that ended themselves with `t.skip`. They are in no rate. */
  skipped: number;
  /**
   * Planned cases that did not run: with early exit, because another trial of the same work had passed; in a sequential run,
   * because it ended at an earlier look.
   */
  not_run: number;
  /** Other planned cases that have not finished. */
  missing: number;
};

/** A mean over tasks. */
export type Estimate = {
  /** From 0 to 1, or an amount in its own unit; `null` when nothing is known. */
  value: number | null;
  /** 95 %, tasks as clusters; `null` where no interval can be given, and for amounts. */
  interval: Interval | null;
  /** The lowest and the highest mean that the unknown values still allow. `null`: all cases skipped themselves, and amounts. */
  bounds: [number, number] | null;
  /** How many values are known, and how many are not: one per trial, for `pass_at_k` one per task. */
  known: number;
  missing: number;
};

export type Arm = OutcomeCounts & {
  agent: string;
  variant: string;
  tasks: number;
  /** Finished cases whose outcome is passed or failed. */
  trials: number;
  /** Retries after infrastructure errors, over all cases. */
  retries: number;
  /** What the comparisons of this report compare. */
  primary: Estimate;
  /** Of the cases whose assertions have points; `null` where there are none. */
  score: Estimate | null;
  /**
   * Mean over tasks of the share of passed trials; `null` when no trial counts, and with early exit: trials that stop at
   * the first pass have no rate.
   */
  pass_rate: number | null;
  /** 95 %, tasks as clusters; `null` where no interval can be given. */
  pass_rate_interval: Interval | null;
  /** [passed / planned, (passed + error + missing + not run) / planned], without skipped cases: the lowest and highest rate that missing data allow. `null`: all were skipped. */
  bounds: [number, number] | null;
  /**
   * pass@k (`any`) and pass^k (`all`): the chance that at least one, and that every one, of k trials of a task passes. Means over
   * tasks with their 95 % intervals. k is one less than the planned trials, because with all of them nothing of the chance is
   * left to estimate; `null` with fewer than three trials, and where a task lacks one. With early exit, k is the number of
   * trials, and `all` is `null`.
   */
  pass_at_k: PassAtK | null;
  /** Median seconds that the agent ran. */
  median_agent_seconds: number | null;
  median_seconds: number | null;
  /** Mean number of changed files. */
  mean_changed_files: number | null;
  usage_source: 'gateway' | 'agent' | 'mixed' | 'none';
  /** Sum over the cases whose tokens are known. */
  total_tokens: number | null;
  /** Finished cases whose tokens are unknown. */
  tokens_unknown: number;
  /** Sum over the cases whose cost is known. */
  cost_usd: number | null;
  /** Finished cases whose cost is unknown. */
  cost_unknown: number;
  /** The cost of all cases divided by the number of passed cases; `null` where a cost is unknown or no case passed. */
  cost_per_pass_usd: number | null;
};

export type Comparison = {
  /** `all agents` where it is pooled over them. */
  agent: string;
  /** Over all agents with these two variants: per task the mean of their differences. Absent: one agent. */
  pooled?: true;
  variant: string;
  baseline: string;
  /** Tasks that have a result in both arms. */
  tasks: number;
  /** Ids of the tasks that have no result, or for amounts none over 0, in one of the arms, in plan order. */
  tasks_without_result: string[];
  /**
   * Mean over tasks of (value of the variant − value of the baseline); for amounts the relative change (−0.2: 20 % less),
   * from the geometric mean of the ratios. `null` when no task has both.
   */
  difference: number | null;
  /** In the unit of `difference`. For tasks like these: 95 %, Student t over tasks; `null` below four tasks. */
  interval: Interval | null;
  /** Two-sided, for tasks like these; `null` below four tasks. */
  p_value: number | null;
  /** The p-value after Holm's correction over all comparisons of the report. The verdict uses this one. */
  adjusted_p_value: number | null;
  /**
   * Two-sided, for these tasks only: exact permutation of the arms within each task. Makes no verdict; `null` unless
   * pass rates are compared and every task has two trials or more in both arms.
   */
  these_tasks_p_value: number | null;
  /** The lowest and highest difference over all planned cases that the cases without a result still allow. `null` when one arm only has skipped cases. */
  bounds: [number, number] | null;
  /**
   * The intervals over all planned cases, if every case without a result came out against the variant, and in its
   * favor; `null` when no result is missing. A missing amount counts as the largest and the smallest one over 0 that was seen,
   * and a task with an amount of 0, which has no ratio, as the largest ratio of those that were seen.
   */
  interval_bounds: { against: Interval | null; in_favor: Interval | null } | null;
  /**
   * The smallest difference that this many tasks show with 80 % power; `null` where the spread over tasks is unknown,
   * and where so few tasks cannot show any.
   */
  minimum_detectable_difference: number | null;
  /** Tasks like these that a difference of 10 points needs (80 % power); `null` where the spread is unknown. */
  tasks_needed: number | null;
  /**
   * Trials of the same arm on both days, where the baseline was saved on another day. `difference`, its interval and its p-value
   * are corrected by them. Absent: the arms ran side by side, or fewer than four tasks have such trials.
   */
  bridge?: Bridge;
  /** Only while cases have not finished: for looks that nobody planned. Makes no verdict. */
  e_value?: UnplannedLook;
  /** Errors and retries of the two arms. Absent: none has any. */
  missing_data?: MissingData;
  /** What the verifier's own noise does to the difference. Absent: the trees were not verified several times. */
  verifier?: VerifierEffect;
  /** `null` unless the run declares which differences count as none. */
  equivalence: Equivalence | null;
  verdict: Verdict;
  /** What the verdict is based on; for `inconclusive`, also what would settle it. */
  sentence: string;
};

export type Verdict = 'better' | 'worse' | 'equivalent' | 'inconclusive';

export type Equivalence = {
  /** Differences up to this size count as none; declared before the first case, in the unit of `difference`. */
  margin: number;
  /** Inside ±`margin` the arms are equivalent. At 95 % over all comparisons (Bonferroni); `null` below 20 tasks. */
  interval: Interval | null;
  /** As `interval_bounds`, for this interval. */
  interval_bounds: { against: Interval | null; in_favor: Interval | null } | null;
  /** Tasks like these that show it with 80 % power if the arms do not differ; `null` where the spread is unknown. */
  tasks_needed: number | null;
};

export type Cell = OutcomeCounts & { agent: string; task: string; variant: string };

/** `category`: `null` for all tasks that have none, or of which no case has finished. */
export type CategoryCell = OutcomeCounts & { agent: string; category: string | null; variant: string };

export type FailureGroup = {
  /** The `failure_class` of the rows. */
  class: string;
  /** The class in words, for a heading. */
  title: string;
  count: number;
  cases: { case_id: string; agent: string; task: string; variant: string; trial: number; evidence: string }[];
};

/** How far verifications of one and the same tree disagree. */
export type VerifierNoise = {
  /** Trees that were verified twice or more, and how often the verifications of such a tree did not all agree. */
  trees: number;
  disagreed: number;
  /** The chance that two verifications of a tree disagree: mean over tasks. */
  disagreement: number;
  /** The share of a true difference that is shown, if the verifier is wrong about good and bad work alike; `null`: not known. */
  shown_share: number | null;
  /** The tasks whose verifications disagreed, the worst first. */
  tasks: { task: string; trees: number; disagreed: number; disagreement: number }[];
};

/** What the verifier does to a difference, where every compared tree was verified twice or more. */
export type VerifierEffect = {
  /** The difference with the mean of all verifications of a tree in place of one verdict. */
  averaged_difference: number;
  /** The standard deviation of the difference that comes from the verifier alone. */
  standard_deviation: number;
};

export type Bridge = {
  /** The variant whose trials are the bridge. */
  variant: string;
  /** Tasks with trials on both days, and the trials of now. */
  tasks: number;
  trials: number;
  /** Mean over these tasks of now − then, in the unit of `difference`. */
  drift: number;
  /** 95 %. */
  drift_interval: Interval | null;
};

/** Whether missing data are spread alike. Where they are not, what is missing may not be like the rest. */
export type MissingData = { errors: RatePair; retried: RatePair };

/** A count of cases in each arm. `p_value`: two-sided, exact permutation within tasks; `null` where neither arm has any. */
export type RatePair = {
  variant: { count: number; cases: number };
  baseline: { count: number; cases: number };
  p_value: number | null;
};

/** What the tasks that have finished say, however often somebody looks and whenever they stop. */
export type UnplannedLook = {
  value: number;
  /** Tasks whose cases have all finished in both arms. */
  tasks: number;
  /** What it has to reach: 20 times the number of comparisons. */
  needed: number;
};
