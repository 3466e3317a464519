import type { LoopProfile } from './loop/loop-profiles.ts';
import type { AgentKind, DrivenAgentKind } from './native/native-agents.ts';

export type { AgentKind };

/** A command to run: a shell script, or an argument vector that no shell sees. */
export type Command = { kind: 'shell'; script: string } | { kind: 'argv'; argv: string[] };

/** One agent of a configuration, every default filled in. What it holds depends on how the agent is run. */
export type AgentConfig = CommandAgentConfig | DriverAgentConfig | ModuleAgentConfig | LoopAgentConfig;

type AgentBase = {
  name: string;
  kind: AgentKind;
  /** Wall-clock limit of one turn, seconds. Default 3600 (`timeout_minutes: 60`). */
  timeoutSeconds: number;
  /** Recorded; the `process` sandbox does not enforce it. Default `disabled`. */
  network: string;
  /** Absolute path of a prompt template. */
  promptTemplate?: string;
  /**
   * Environment for this agent only. `${NAME}` takes a variable of the user's own environment, which is how a user
   * hands over a key on purpose; such values are masked in every log and artifact.
   */
  env: Record<string, string>;
};

/** An agent that runs through a command line of the user's. */
export type CommandAgentConfig = AgentBase & {
  runner: 'command';
  kind: Exclude<AgentKind, 'loop'>;
  /** The template of the command; its variables are not yet substituted. */
  command: Command;
  /** Resumes a session. Default: `command`, if it names `{session_id}`. */
  resumeCommand?: Command;
  telemetry: TelemetryConfig;
  /** Where the agent looks for what a variant gives it. Default: what is known of its kind, else AGENTS.md only. */
  context?: AgentContextConfig;
};

/** A released agent that Whetstone starts itself. */
export type DriverAgentConfig = AgentBase & {
  runner: 'driver';
  kind: DrivenAgentKind;
  driver: DriverOptions;
};

/** An adapter of the user's: a module whose default export is an agent. */
export type ModuleAgentConfig = AgentBase & {
  runner: 'module';
  kind: 'custom';
  module: ModuleOptions;
  /** As for a command. */
  context?: AgentContextConfig;
};

/** Our own loop, in this process. */
export type LoopAgentConfig = AgentBase & { runner: 'loop'; kind: 'loop'; loop: LoopOptions };

export type AgentContextConfig = {
  /** A file in the workspace. */
  instructions?: string;
  /** A folder below the agent's home, which gets a folder for each skill. */
  skills?: string;
  /** A file below the agent's home, which gets `{"mcpServers": {…}}`. */
  mcpServers?: string;
};

export type DriverOptions = {
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

export type ModuleOptions = {
  /** Absolute. */
  file: string;
  /** Passed to the adapter, which says what it means. */
  model?: string;
};

export type LoopOptions = {
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
  /** The agents whose manifest it has: at least one. */
  kinds: DrivenAgentKind[];
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
