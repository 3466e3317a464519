import type { JsonObject } from '@whetstone/events';
import type { CliAgentKind } from './cli-kinds.ts';
import type { LoopProfile } from './loop-profiles.ts';

/**
 * What a `whetstone.yaml` and its task file come to: every default filled in, every path absolute. A superset of the
 * context-eval configuration; the YAML spells the names in snake_case.
 */
export type Config = {
  /** Absolute path of the config file. */
  file: string;
  repo: { path: string /** Default `HEAD`. */; baseRef: string };
  /** In file order. The legacy `agent:` shape is one agent. */
  agents: AgentConfig[];
  tasksFile: string;
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
  sandbox: { provider: SandboxProviderName };
  gateway?: GatewayConfig;
};

export type SandboxProviderName = 'process';

export type AgentKind = CliAgentKind | 'traecli' | 'coco' | 'bub' | 'custom' | 'loop';

/** A command to run: a shell script, or an argument vector that no shell sees. */
export type Command = { kind: 'shell'; script: string } | { kind: 'argv'; argv: string[] };

export type AgentConfig = {
  name: string;
  kind: AgentKind;
  /** The command template; absent for `kind: loop`, beside `module`, and where `cli` is there. Variables are not yet substituted. */
  command?: Command;
  /** Beside `command` alone: goes on with a session. Default: `command`, where it names `{session_id}`. */
  resumeCommand?: Command;
  /** Wall-clock limit of one turn, seconds. Default 3600 (`timeout_minutes: 60`). */
  timeoutSeconds: number;
  /** Recorded, and not enforced by the `process` sandbox. Default `disabled`. */
  network: string;
  /** Absolute path of a prompt template. */
  promptTemplate?: string;
  telemetry: TelemetryConfig;
  /**
   * Environment for this agent alone. `${NAME}` takes a variable of the user's own environment, which is how a key
   * is handed to an agent on purpose; such values are secrets to every log and artifact.
   */
  env: Record<string, string>;
  /** Of a command or a module: where it looks for what a variant declares. Default: where its kind does, else AGENTS.md alone. */
  context?: AgentContextConfig;
  /** Set exactly for `kind: loop`. */
  loop?: LoopAgentConfig;
  /** `kind: custom` alone, instead of a command. */
  module?: ModuleAgentConfig;
  /** Set exactly for the kinds that Whetstone drives itself, where they have no command. */
  cli?: CliAgentConfig;
};

export type AgentContextConfig = {
  /** A file in the workspace. */
  instructions?: string;
  /** A folder below the agent's home, which gets a folder for each skill. */
  skills?: string;
  /** A file below the agent's home, which gets `{"mcpServers": {…}}`. */
  mcpServers?: string;
};

/** A released command line that Whetstone drives itself. */
export type CliAgentConfig = {
  /** Default: one that the agent knows. */
  model?: string;
  /** Without a version segment. Default: the gateway's lane, else the provider's own. */
  baseUrl?: string;
  /** Name of the variable that holds the key when no gateway is used. Default: the provider's usual one. */
  apiKeyEnv?: string;
  /** An installed version (`whetstone agents install KIND@VERSION`). Default: the one on the PATH, else the newest installed. */
  version?: string;
  /** Files and folders of the user's home that the agent gets, relative to it. */
  inherit: string[];
};

/** An adapter of the user's: a module whose default export is an agent. */
export type ModuleAgentConfig = {
  /** Absolute. */
  file: string;
  /** Passed to the adapter, which says what it means. */
  model?: string;
};

export type LoopAgentConfig = {
  profile: LoopProfile;
  /** Model id. Default: the profile's own. */
  model?: string;
  /** Provider base URL; default: the gateway's lane, else the provider's own. */
  baseUrl?: string;
  /** Name of the variable that holds the key when no gateway is used. Default: the provider's usual one. */
  apiKeyEnv?: string;
  reasoningEffort?: string;
  /** Default 200. */
  maxToolRounds?: number;
};

export type TelemetryConfig = {
  collector: 'none' | 'json-file' | 'codex-jsonl';
  /** Relative to the output directory of the case. */
  file: string;
  /** Exported to the agent with the path of `file`; `null`: not exported. */
  environmentVariable: string | null;
};

export type GatewayConfig = GatewayMode & {
  /** What goes wrong on purpose, each in the short form of `whetstone gateway --fault`. */
  faults: string[];
  /** Of each attempt. */
  budget?: BudgetConfig;
  /** Of all attempts together. */
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
};

export type UpstreamConfig = {
  provider: 'openai' | 'anthropic' | 'google';
  /** Default: the provider's own. */
  baseUrl?: string;
  /** Default: the provider's usual variable. */
  key?: { env: string } | { file: string } | { command: string };
};

export type BudgetConfig = { costUsd?: number; tokens?: number; calls?: number; minutes?: number };

export type TaskConfig = {
  id: string;
  prompt: string;
  /** What the agent is told after `prompt`, one turn each, in the same session. At least one. */
  followUps?: string[];
  title?: string;
  category?: string;
  difficulty?: string;
  /** Overrides `repo.base_ref`. */
  repoRef?: string;
  /** Commands run in the workspace before the agent, and again in the clean room before validation. */
  setup: Command[];
  /** Validation commands: the task's own where it has any, else those of `evaluation`. */
  validation: { commands: Command[]; timeoutSeconds?: number };
  /** Absolute path of a folder that is laid over the tree for verification only. */
  hiddenTests?: string;
  /** A JSON Schema of type object that the agent's last answer has to fit. */
  outputSchema?: JsonObject;
  /** Globs (picomatch, `/` separated, relative to the tree) that are restored to the base before verification. */
  protectedPaths: string[];
  /** Overrides the agent's own limit for this task, seconds. */
  timeoutSeconds?: number;
  expectedOutcome?: ExpectedOutcome;
  hardEvaluation?: HardEvaluation;
  softEvaluation?: unknown;
  /** Keys that this version does not know, kept as they are and hashed. */
  extra: Record<string, unknown>;
};

export type ExpectedOutcome = {
  summary?: string;
  acceptancePoints: string[];
  files: {
    path: string;
    changeType: string;
    mustChange: boolean;
    expectedSnippets: string[];
    forbiddenSnippets: string[];
  }[];
  forbiddenPaths: string[];
};

/** Deterministic checks besides the validation commands; `expected_outcome` is already merged in where it applies. */
export type HardEvaluation = {
  enabled: boolean;
  requireValidationPass: boolean;
  maxChangedFiles?: number;
  requiredPaths: string[];
  forbiddenPaths: string[];
  expectedSnippets: { path: string; snippets: string[] }[];
  forbiddenSnippets: { path: string; snippets: string[] }[];
  commandChecks: { label: string; command: Command; expected: string; timeoutSeconds: number }[];
  minInsertions?: number;
  maxInsertions?: number;
  minDeletions?: number;
  maxDeletions?: number;
};

export type VariantConfig = {
  name: string;
  description: string;
  /** Applied in this order. */
  overlays: OverlayOperation[];
  /** What the agent is to read of its own accord; laid over the tree last, under the name that the agent looks for. */
  instructions?: InstructionsConfig;
  /** In file order, at least one. */
  skills?: SkillConfig[];
  /** In file order, at least one. */
  mcpServers?: McpServerConfig[];
  /** In file order, at least one. */
  plugins?: PluginConfig[];
};

/** An absolute path of a Markdown file, or the text itself. */
export type InstructionsConfig = { file: string } | { text: string };

export type SkillConfig = {
  name: string;
  description: string;
  /** Absolute path of the folder with its SKILL.md. */
  source: string;
};

/** A folder in the format of one agent or of several. */
export type PluginConfig = {
  name: string;
  version?: string;
  description?: string;
  /** Absolute path. */
  source: string;
  /** Whose manifest it has: at least one. */
  kinds: CliAgentKind[];
};

/** `${NAME}` in `env` and `headers` takes a variable of the user's environment, as an agent's `env` does. */
export type McpServerConfig =
  | {
      kind: 'command';
      name: string;
      /** `file`: absolute, fingerprinted by content. */
      command: string | { file: string };
      args: (string | { file: string })[];
      env: Record<string, string>;
    }
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> };

/**
 * `copy`: a file or folder laid over the tree. `write`: a file of that text. `remove`: paths taken away. Targets are safe
 * relative paths.
 */
export type OverlayOperation =
  | { kind: 'copy' /** Absolute. */; source: string; target: string }
  | { kind: 'write'; text: string; target: string }
  | { kind: 'remove'; paths: string[] };
