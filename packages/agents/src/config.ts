import type { LoopProfile } from './loop/loop-profiles.ts';
import type { AgentKind, CliAgentKind } from './native/kinds.ts';

export type { AgentKind };

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
