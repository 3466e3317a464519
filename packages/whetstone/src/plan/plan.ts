/** The cases of a run and the order in which they start. JSON: it is part of the run's manifest. */
export type Plan = {
  /** Seeds the order and every scripted chance. */
  seed: string;
  trials: number;
  /** In agent, task, variant, trial order: the order of `results.jsonl`. */
  cases: PlannedCase[];
  /**
   * Case ids in starting order: shuffled in blocks. A block holds every variant of one agent, task and trial, so that
   * what drifts with time hits all arms alike.
   */
  order: string[];
  agents: { name: string; kind: string; fingerprint: string }[];
  tasks: { id: string; commit: string; fingerprint: string }[];
  variants: { name: string; fingerprint: string }[];
  baseline: string;
};

export type PlannedCase = {
  /** Safe as a file name on every system, and unique whatever the names are. */
  id: string;
  agent: string;
  task: string;
  variant: string;
  /** From 1. */
  trial: number;
  block: number;
  /**
   * sha256 over everything the outcome depends on, by content: commit SHA, overlay bytes, task, prompt template, agent
   * definition, hidden tests, trial.
   */
  fingerprint: string;
};

/** What of the matrix to run. Filters are OR within a field and AND across; an empty list selects all. */
export type Selection = {
  agents: string[];
  variants: string[];
  taskIds: string[];
  categories: string[];
  difficulties: string[];
  maxTasks?: number;
};
