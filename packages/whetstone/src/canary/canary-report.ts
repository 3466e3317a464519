import type { Interval } from '../stats/interval.ts';

/** A pass rate: the mean over tasks. `null`: no task has a result. */
export type Rate = { value: number | null; passed: number; trials: number };

/** A night by its place; 0 is the baseline. */
export type NightName = { night: number; run_id: string; at: string };

export type Drift = {
  direction: 'worse' | 'better';
  /** The night on which it most likely began, and the one on which it was noticed. */
  since: NightName;
  noticed: NightName;
  before: Rate;
  after: Rate;
  /** Mean over the tasks of both. `null`: they have no task in common. */
  difference: number | null;
  /** For tasks like these. It does not account for the choice of the night, so that it is too narrow. */
  interval: Interval | null;
  /** The tasks that changed most. */
  tasks: { task: string; before: Rate; after: Rate }[];
  /** What else is not the same on both sides, such as the version of the agent. `null`: unknown. */
  changes: { what: string; before: string | null; after: string | null }[];
};

/** `too-early`: a drop of 20 points could not have been found yet. `unmeasured`: tonight has too few results to count. */
export type CanaryVerdict = 'no-drift' | 'drift' | 'too-early' | 'unmeasured';

export type AgentVerdict = {
  agent: string;
  verdict: CanaryVerdict;
  /** Nights that count, without the baseline. */
  nights: number;
  /** At `alarm_at` it is a drift. It stays as it was when the drift was noticed. */
  evidence: number;
  alarm_at: number;
  /** All nights before tonight. */
  before: Rate;
  /** `planned`: cases, of which `trials` have a result. */
  tonight: Rate & { planned: number; cost_usd: number | null };
  drift: Drift | null;
  /** How many nights it takes to find a drop that begins now: the median of simulations. `null`: more than 60, or no room. */
  finds: { drop: number; nights: number | null }[];
};

/** What `canary --json` prints. */
export type CanaryReport = {
  schema_version: '1';
  /** The most serious one of the agents. */
  verdict: CanaryVerdict;
  /** The latest night. */
  night: NightName;
  /** On average, at least so many nights pass before a false alarm of any agent. */
  nights_per_false_alarm: number;
  agents: AgentVerdict[];
};
