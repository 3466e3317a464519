/** The options of `whetstone try`. `budget`: US dollars. */
export type TryOptions = {
  config?: string;
  agent: string[];
  agentCommand?: string;
  model?: string;
  trials: number;
  maxTasks?: number;
  jobs: number;
  prepare: string[];
  budget?: number;
  yes?: boolean;
  resume?: string;
  dryRun?: boolean;
  json?: boolean;
};
