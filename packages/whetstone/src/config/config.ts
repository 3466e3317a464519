import type { AgentCapabilities } from '@whetstone/agents';
import type {
  AgentConfig,
  Command,
  McpServerConfig,
  PluginConfig,
  SkillConfig,
} from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import type { ContainerOptions, Limits } from '@whetstone/sandbox';
import type { DeclaredMetric } from './declared-metric.ts';
import type { ReplacedTasks } from './replaced-tasks.ts';
import type { ExpectedOutcome, HardEvaluation, SoftEvaluation, TestRunnerName } from './schema.ts';

/** A `whetstone.yaml` and its task file: every default filled in, every path absolute. The YAML uses snake_case. */
export type Config = {
  /** Absolute path of the config file. */
  file: string;
  /** `baseRef`: by default `HEAD`. `commit`: what it names, where that is known. */
  repo: { path: string; baseRef: string; commit?: string };
  /** In file order. The legacy `agent:` shape is one agent. */
  agents: AgentConfig[];
  tasksFile: string;
  /** What comparisons are about. Default: the pass rate. */
  metric?: DeclaredMetric;
  /** Differences up to this size count as none: 0.05 for 5 pp, or for amounts 5 %. Default: nothing makes an equivalence. */
  equivalence?: number;
  /** After a pass, the other trials of the same agent, task and variant do not run. Default: all run. */
  earlyExit?: boolean;
  /** More that no agent may see: files and folders, absolute, with what they are. */
  alsoWithheld?: { file: string; what: string }[];
  /** The config's own task file, where `--tasks` names another one. Its tasks do not run. */
  replacedTasks?: ReplacedTasks;
  /** In file order. */
  tasks: TaskConfig[];
  /** In file order. */
  variants: VariantConfig[];
  /** The variant the others are compared with: `baseline:` of the config, else one named `baseline`, else the first. */
  baseline: string;
  evaluation: { commands: Command[]; timeoutSeconds?: number };
  /** Where run directories go. */
  outputDir: string;
  /** Seeds the order of the plan and every scripted chance. Default: drawn at planning time, recorded in the manifest. */
  seed?: string;
  /**
   * `auto`: the strongest that this machine can prove, chosen before planning. `readable`: paths that commands may read,
   * absolute, where they see only what is listed. Default: none. `limits`: of all commands of a case together. `hosts`: what
   * commands reach beside the gateway; `setupHosts`: what `setup` and `prepare` reach beside these. Default: none and, for
   * these, the network of this machine.
   */
  sandbox: {
    provider: SandboxProviderName;
    readable?: string[];
    limits?: Limits;
    /** What a case may take of the disk. Default: 16, 8, 4 … GiB, that of `openCaseDisks`, where it can be enforced. */
    diskBytes?: number;
    hosts?: string[];
    setupHosts?: string[];
    /** For `docker`, which `auto` considers only with it. */
    container?: ContainerOptions;
  };
  environment?: EnvironmentConfig;
  gateway?: GatewayConfig;
  /** Only of evals: who judges. */
  judge?: JudgeConfig;
};

/** What is installed once for all cases, before any agent. */
export type EnvironmentConfig = {
  /** Empty: nothing is installed. */
  prepare: Command[];
  /** Globs of the files that `prepare` sees and depends on. Default: lock files, manifests and settings of tools. */
  inputs?: 'all' | string[];
  /** Variables of `prepare` only; `${NAME}` is taken from the user's environment. */
  env?: Record<string, string>;
  /** Limit of each command, seconds. */
  timeoutSeconds: number;
  /** Started for each agent and each clean room. */
  services: ServiceConfig[];
};

export type ServiceConfig = {
  name: string;
  /** A shell command; `{port}` is a free port of 127.0.0.1. */
  command: string;
  /** `tcp`: it is ready when it accepts a connection. `none`: nothing is waited for. */
  ready: 'tcp' | 'none';
};

export type SandboxProviderName = 'auto' | 'process' | 'bubblewrap' | 'docker' | 'sandbox-runtime';

export type GatewayConfig = GatewayMode & {
  /** Injected faults, each in the short form of `whetstone gateway --fault`. */
  faults: string[];
  /** Whether each case keeps the requests and replies of its model calls. Default: true. */
  keepExchanges?: boolean;
  /** The limits of each attempt. */
  budget?: BudgetConfig;
  /** The limits of all attempts together. */
  runBudget?: BudgetConfig;
};

/** Where the replies of models come from. Paths are absolute. */
export type GatewayMode =
  | { mode: 'script' /** A YAML or TypeScript script. */; script: string }
  | ({ mode: 'forward' } & ForwardConfig)
  | ({ mode: 'record' /** A folder: a cassette for each case. */; cassettes: string } & ForwardConfig)
  | ({
      mode: 'replay';
      cassettes: string;
      miss: 'strict' | 'lenient' | 'fork';
      timing: 'collapsed' | 'kept';
    } & ForwardConfig);

type ForwardConfig = {
  /** Empty: every provider whose key is in its usual variable. */
  upstreams: UpstreamConfig[];
  /** Tools that run at the provider: none, all, or those listed. */
  providerTools: boolean | string[];
  /** What agents may use besides model calls, as `/v1/embeddings` or `GET /files/*`. */
  allowEndpoints: string[];
  /** How many calls to one provider may be under way at once, over all cases. */
  callsAtOnce?: number;
};

export type UpstreamConfig = {
  provider: 'openai' | 'anthropic' | 'google';
  /** Default: the provider's own. */
  baseUrl?: string;
  /** Default: the provider's usual variable. */
  key?: { env: string } | { file: string } | { command: string };
};

export type BudgetConfig = { costUsd?: number; tokens?: number; calls?: number; minutes?: number };

/** The way of a judge to its model: a lane of the gateway, which meters, records and replays its calls. */
export type JudgeLane = { baseUrl: string; key: string };

/** Who judges what `t.judge` asks. At least one of `model` and `agent`. */
export type JudgeConfig = {
  /** `provider/model`, or a function that makes a model of the AI SDK for a lane. */
  model?: string | ((lane: JudgeLane) => unknown);
  agent?: AgentConfig;
  /** How many votes decide. */
  votes: number;
  /** The limits of all judging of a run together. */
  budget?: BudgetConfig;
  /** Absolute path of the script that plays the judge where the gateway plays a script. Default: that of the gateway. */
  script?: string;
  /** Whether the judge may be the model or the agent that is judged. */
  sameAsAgent: boolean;
  /** Absolute path of the file that states it: its content stands for code in it. */
  file: string;
};

/** As a file states it. `agent`: one that was defined in code, or the options of another one. */
export type StatedJudge = Omit<JudgeConfig, 'agent'> & { agent?: object };

export type TaskConfig = {
  id: string;
  prompt: string;
  /** Prompts after `prompt`, one turn each, in the same session. At least one. */
  followUps?: string[];
  title?: string;
  category?: string;
  difficulty?: string;
  /** Overrides `repo.base_ref`. */
  repoRef?: string;
  /** Commands run in the workspace before the agent, and again in the clean room before validation. */
  setup: Command[];
  /** Limit of each setup command, seconds. Default: 600. */
  setupTimeoutSeconds?: number;
  /** Variables of the setup commands; `${NAME}` is taken from the user's environment. */
  setupEnv?: Record<string, string>;
  /** Validation commands: the task's own where it has any or has `tests`, else those of `evaluation`. */
  validation: { commands: Command[]; tests?: TaskTests; timeoutSeconds?: number };
  /** `none`: a turn that changes the workspace has failed. Default: that of the agent. */
  sideEffects?: 'none';
  /** Applied to the commit before those of the variant, in this order. */
  overlays?: OverlayOperation[];
  /** Absolute path of a folder that is laid over the tree for verification only. */
  hiddenTests?: string;
  /** Absolute path of a patch that solves the task, for `tasks check`, for listing its tests and for masking them. */
  goldPatch?: string;
  /** Whether hidden tests find what the agent did in `__niceeval__/results.json`. Default: false. */
  o11yContext?: boolean;
  /** A JSON Schema of type object that the agent's last answer has to fit. */
  outputSchema?: JsonObject;
  /** Globs (picomatch, `/` separated, relative to the tree) that are restored to the base before verification. */
  protectedPaths: string[];
  /** Globs of paths that the agent may change although they are protected in every task. Default: none. */
  changeablePaths?: string[];
  /** Overrides the agent's own limit for this task, seconds. */
  timeoutSeconds?: number;
  expectedOutcome?: ExpectedOutcome;
  /** `expected_outcome` is already merged in where it applies. */
  hardEvaluation?: HardEvaluation;
  softEvaluation?: SoftEvaluation;
  /** The code that drives the agent and asserts on what it did, in place of `prompt` and `followUps`. */
  eval?: EvalTask;
  /** Keys that this version does not know, kept as they are and hashed. */
  extra: Record<string, unknown>;
};

/** Tests that the clean room runs with their own runner, and judges by the report of the runner. */
export type TaskTests = {
  runner: TestRunnerName;
  /** The files to run, relative to the root of the tree. */
  files: string[];
  /** Where the runner starts, relative to the root of the tree. Default: the root. */
  directory?: string;
  /** Further arguments of the runner. */
  options: string[];
  /** The ids of the tests that have to be in the report as passed. Empty: those that the tree with the tests shows. */
  mustPass: string[];
  /** The ids of tests that may be in the report as well, whatever their results. Absent: any. */
  others?: string[];
  /** `own`: the runner gets settings of Whetstone and reads none of the tree. Absent: only where the tree has none. */
  settings?: 'own' | 'tree';
  /** Whether the tests are masked; a number: in so many rounds. Absent: where they are hidden and enough twins serve. */
  masks?: 'off' | 'on' | number;
};

/** The definition of an eval in a TypeScript or JavaScript file. */
export type EvalTask = {
  /** Absolute path. */
  file: string;
  /** Absolute path of the folder that paths of evals are shown relative to. */
  root: string;
  /** Its place in an array or a record of definitions; `null`: it is the whole default export. */
  key: string | null;
  /** What the agent must be able to do. */
  requires: AgentCapabilities;
  /** What `t.testsPassed()` runs. Default: `npm test`. */
  tests?: Command;
};

export type VariantConfig = {
  name: string;
  description: string;
  /** Settings of an experiment, passed to the agent and to the eval as they are. */
  flags?: Readonly<Record<string, unknown>>;
  /** Applied in this order. */
  overlays: OverlayOperation[];
  /** Put into the tree last, where each agent reads them. */
  instructions?: InstructionsConfig;
  /** In file order, at least one. */
  skills?: SkillConfig[];
  /** In file order, at least one. */
  mcpServers?: McpServerConfig[];
  /** In file order, at least one. */
  plugins?: PluginConfig[];
};

/**
 * An absolute path of a Markdown file, or the text itself. `append`: beside the instructions that the repository has for
 * the agent. `replace`: in place of them.
 */
export type InstructionsConfig = ({ file: string } | { text: string }) & { mode: 'append' | 'replace' };

/**
 * `copy`: a file or folder. `write`: a file with that text. `append`: the text after what the file has. `remove`: these
 * paths. Targets are safe relative paths.
 */
export type OverlayOperation =
  | { kind: 'copy' /** Absolute. */; source: string; target: string }
  | { kind: 'write' | 'append'; text: string; target: string }
  | { kind: 'remove'; paths: string[] };
