import type { Agent, AgentCapabilities, AgentOptions } from '@whetstone/agents';
import type { z } from 'zod';
import type { JudgeLane } from '../config/config.ts';
import type { DeclaredMetric } from '../config/declared-metric.ts';
import type {
  agentSchema,
  judgeSchema,
  legacyAgentSchema,
  rootSchema,
  sandboxSchema,
  taskSchema,
  variantSchema,
} from '../config/schema.ts';
import type { TestContext } from './test-context.ts';

/** Every capability: what `t` offers where an eval does not say what it needs. */
export type EveryCapability = {
  conversation: true;
  toolObservability: true;
  structuredOutput: true;
  workspace: true;
};

/** The capabilities that an agent's type declares, or these capabilities themselves. */
export type CapabilitiesOf<Of> =
  Of extends Agent<infer Capabilities> ? Capabilities : Of extends AgentCapabilities ? Of : never;

/** One eval: code that drives an agent and asserts on what it did. */
export type EvalDefinition<Capabilities extends AgentCapabilities = EveryCapability> = {
  description?: string;
  /** What the agent must be able to do. `t` has only what these capabilities allow. Default: not checked. */
  requires?: Capabilities;
  /** For `whetstone exp --tag`. */
  tags?: readonly string[];
  /**
   * A folder with the files that the agent starts with, relative to the file of the eval. `EVAL.ts` and other tests in it
   * stay hidden; `t.testsPassed()` runs them. Default: the repository of the configuration, else no files.
   */
  fixture?: string;
  /** Limit of one attempt, ms: all turns and the eval's own code. Default: that of the experiment. */
  timeoutMs?: number;
  /** Drives the agent through `t`. What it throws is an `error` of the case, and never ends the run. */
  test: (t: TestContext<Capabilities>) => unknown;
};

/**
 * Defines an eval, for the default export of an `evals/**\/*.eval.ts`. `defineEval<typeof myAgent>({…})` shows `t` only
 * what that agent can do; `requires` does the same and also refuses agents that cannot.
 */
export function defineEval<const Capabilities extends AgentCapabilities = EveryCapability>(
  definition: EvalDefinition<Capabilities>,
): EvalDefinition<Capabilities>;
export function defineEval<Of extends Agent>(
  definition: EvalDefinition<CapabilitiesOf<Of>>,
): EvalDefinition<CapabilitiesOf<Of>>;
export function defineEval(definition: object): object {
  return definition;
}

/** An arm of the comparison: the keys of a variant in YAML, and `flags`, which go over those of the experiment. */
export type ExperimentVariant = z.input<typeof variantSchema> & { flags?: Readonly<Record<string, unknown>> };

/**
 * Who judges: a model, an agent in a sandbox of its own, or both. Never by default the model or the agent that is judged.
 * The other keys are those of `judge` in YAML.
 */
export type JudgeDefinition = Omit<z.input<typeof judgeSchema>, 'model' | 'agent'> & {
  /**
   * `openai/…`, `anthropic/…` or `google/…`, or a function that makes any model of the AI SDK at the lane's address, with
   * the lane's key: `({ baseUrl, key }) => createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key })('gpt-5.5')`. Whetstone's
   * gateway meters, records and replays its calls.
   */
  model?: string | ((lane: JudgeLane) => object);
  agent?: Agent | AgentOptions;
};

/** Which agent runs which evals, how often and with what. */
export type ExperimentDefinition = {
  /** An agent made with `defineAgent` or `defineSandboxAgent`, or the options of one that Whetstone starts. */
  agent: Agent | AgentOptions;
  /** Passed to the agent as `ctx.model`. Default: the agent's own. */
  model?: string;
  /** Attempts per eval and variant. Default: 1. */
  runs?: number;
  /**
   * What variants are compared by: the share of passed attempts, the share of the points of `score(points)`, or what a case
   * takes of `cost`, `tokens` or `seconds`. Declared here, because a metric that is chosen after the results proves nothing.
   * Default: `pass_rate`.
   */
  metric?: DeclaredMetric;
  /**
   * Differences up to this size count as none: `5pp`, or for amounts `10%`. With it, a comparison over 20 tasks or more can
   * end as `equivalent`. Default: none can.
   */
  equivalence?: string;
  /**
   * Does not run the remaining attempts of an eval and variant after one has passed. Variants are then compared by whether
   * any of the attempts passed (pass@k), so that another `metric` is an error. Default: false.
   */
  earlyExit?: boolean;
  /** Passed to the agent as `ctx.flags` and to the eval as `t.flags`. */
  flags?: Readonly<Record<string, unknown>>;
  /** Ids of evals or beginnings of ids, or a function of the id. Default: all. */
  evals?: string | readonly string[] | ((id: string) => boolean);
  /** By name. Default: one variant, `baseline`, that changes nothing. */
  variants?: Readonly<Record<string, ExperimentVariant>>;
  /** Where commands run. Default: that of the configuration, else `auto`. One that is not there is an error, never a weaker one. */
  sandbox?: string;
  /** Most US dollars that all attempts together may cost. Needs a gateway. */
  budget?: number;
  /** Who judges what `t.judge` asks. Default: the `judge` of `whetstone.config.ts`. */
  judge?: JudgeDefinition;
  /** Limit of one attempt, ms. Default: one hour. */
  timeoutMs?: number;
  /** Called once before the first attempt. */
  setup?: () => unknown;
  /** Called once after the last attempt, also after an error. */
  teardown?: () => unknown;
};

/** Defines an experiment, for the default export of an `experiments/*.ts`. */
export const defineExperiment = (experiment: ExperimentDefinition): ExperimentDefinition => experiment;

/** What `whetstone.config.ts` says: the keys of `whetstone.yaml`. */
export type ProjectDefinition = Partial<
  Omit<z.input<typeof rootSchema>, 'agent' | 'agents' | 'judge' | 'variants' | 'sandbox'> & {
    agent: z.input<typeof legacyAgentSchema>;
    agents: Readonly<Record<string, z.input<typeof agentSchema>>>;
    judge: JudgeDefinition;
    variants: Readonly<Record<string, z.input<typeof variantSchema> | null>>;
    sandbox: string | z.input<typeof sandboxSchema>;
  }
>;

/** Defines what a project runs, for the default export of `whetstone.config.ts`. */
export const defineConfig = (config: ProjectDefinition): ProjectDefinition => config;

/** What a file of tasks says: the keys of `tasks.yaml`. Keys of other tools may be there as well. */
export type TasksDefinition = { tasks: readonly (z.input<typeof taskSchema> & Record<string, unknown>)[] };

/** Defines tasks, for the default export of the file that `tasks` of the configuration names. */
export const defineTasks = (tasks: TasksDefinition): TasksDefinition => tasks;

/** The agent of an experiment, under the name that the adapter reference gives it. */
export type AgentAdapter = Agent;
