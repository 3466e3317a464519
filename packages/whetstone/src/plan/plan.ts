/** The cases of a run, and the order in which they start. Plain JSON, because it is part of the manifest of the run. */
export type Plan = {
  /** Seeds the starting order and every random choice of a script. */
  seed: string;
  trials: number;
  /** In agent, task, variant, trial order: the order of `results.jsonl`. */
  cases: PlannedCase[];
  /** Case ids, shuffled in blocks of all variants of an agent, task and trial, so that drift affects all arms alike. */
  order: string[];
  /** Of a sequential run: the tasks that each look adds, with the level of its tests. Their cases start in this order. */
  looks?: { tasks: string[]; alpha: number }[];
  /** Where the baseline only runs as a bridge to a run that has it: that run, and the tasks on which it runs. */
  bridge?: { run_id: string; tasks: string[] };
  agents: { name: string; kind: string; fingerprint: string }[];
  tasks: { id: string; commit: string; fingerprint: string }[];
  variants: { name: string; fingerprint: string }[];
  baseline: string;
};

export type PlannedCase = {
  /** Safe as a file name on every system, and unique for any names of agents, tasks and variants. */
  id: string;
  agent: string;
  task: string;
  variant: string;
  /** Counted from 1. */
  trial: number;
  block: number;
  /** sha256 by content over commit, overlays, task, prompt, agent, hidden tests and trial. */
  fingerprint: string;
};

/** The entries of a configuration that a plan has, by name. */
export const inPlan = <Entry extends { name: string }>(
  entries: readonly Entry[],
  planned: readonly { name: string }[],
): Entry[] => entries.filter(({ name }) => planned.some((one) => one.name === name));

/** Which part of the matrix to run. A task must match every list that is given and not empty, by any of its names. */
export type Selection = {
  /** Names of agents. Their order is the order of the matrix. */
  agents?: readonly string[];
  /** Names of variants. Their order is the order of the matrix. */
  variants?: readonly string[];
  taskIds?: readonly string[];
  categories?: readonly string[];
  difficulties?: readonly string[];
  /** Runs only this many of the selected tasks, the first ones of the task file. Default: all. */
  maxTasks?: number;
};
