import type { JsonObject } from '@whetstone/events';
import type { Agent } from './agent.ts';
import type { LoopProfile } from './loop/loop-profiles.ts';
import type { AgentKind, DrivenAgentKind, ProtocolKind } from './native/native-agents.ts';
import type { Permissions } from './policy/permissions.ts';
import type { PolicyRule } from './policy/policy.ts';

export type { AgentKind };

/** A command to run: a shell script, or an argument vector that runs without a shell. */
export type Command = { kind: 'shell'; script: string } | { kind: 'argv'; argv: string[] };

/** One agent of a configuration, every default filled in. Its fields depend on how the agent is run. */
export type AgentConfig = CommandAgentConfig | DriverAgentConfig | ModuleAgentConfig | LoopAgentConfig;

type AgentBase = {
  name: string;
  kind: AgentKind;
  /** Wall-clock limit of one turn, seconds. Default 3600 (`timeout_minutes: 60`). */
  timeoutSeconds: number;
  /** What the profile declares. It is recorded as `network_declared`, and nothing enforces it. */
  network?: string;
  /** Absolute path of a prompt template. */
  promptTemplate?: string;
  /**
   * Environment variables for this agent only. `${NAME}` is replaced with a variable of the user's environment, so a
   * user can pass a key on purpose. These values are masked in every log and artifact.
   */
  env: Record<string, string>;
  /** `none`: a turn that changes the workspace has failed. Default: changes are what an agent is asked for. */
  sideEffects?: 'none';
};

/** An agent that runs through a command line of the user. */
export type CommandAgentConfig = AgentBase & {
  runner: 'command';
  kind: Exclude<AgentKind, 'loop'>;
  /** The template of the command, with its variables not yet replaced. */
  command: Command;
  /** The command that resumes a session. Default: `command`, if it contains `{session_id}`. */
  resumeCommand?: Command;
  telemetry: TelemetryConfig;
  /** For a command that speaks a protocol: decides what it asks, in this order. What no rule allows is denied. */
  policy?: PolicyRule[];
  /** Where the agent looks for what a variant gives it. Default: the places of its kind, or only AGENTS.md. */
  context?: AgentContextConfig;
};

/** A released agent that Whetstone starts itself. */
export type DriverAgentConfig = AgentBase & {
  runner: 'driver';
  kind: DrivenAgentKind | ProtocolKind;
  driver: DriverOptions;
};

/** An adapter of the user: a module whose default export is an agent. */
export type ModuleAgentConfig = AgentBase & {
  runner: 'module';
  kind: 'custom';
  module: ModuleOptions;
  /** Same as for a command. */
  context?: AgentContextConfig;
};

/** Whetstone's own loop, in this process. */
export type LoopAgentConfig = AgentBase & { runner: 'loop'; kind: 'loop'; loop: LoopOptions };

export type AgentContextConfig = {
  /** A file in the workspace. */
  instructions?: string;
  /** A folder below the agent's home, which gets one folder per skill. */
  skills?: string;
  /** A file below the agent's home, which gets `{"mcpServers": {…}}`. */
  mcpServers?: string;
};

type ProviderOptions = {
  /** Provider base URL without a version segment. Default: the gateway's lane, or the provider's usual URL. */
  baseUrl?: string;
  /** Name of the variable that holds the key when no gateway is used. Default: the provider's usual one. */
  apiKeyEnv?: string;
};

export type DriverOptions = ProviderOptions & {
  /** The agent that a protocol drives; its page has their names. Only for kinds that are a protocol, which need it. */
  agent?: string;
  /** Default: the program's own. */
  model?: string;
  /**
   * `login`: the user's own login of the program, which each case gets a copy of. With it, `baseUrl` is where the calls of
   * the login go, also through a gateway. Default `api-key`.
   */
  auth?: 'api-key' | 'login';
  /** An installed version (`whetstone agents install KIND@VERSION`). Default: from the PATH, or the newest installed. */
  version?: string;
  /** Files and folders that the agent gets from the user's home, as paths relative to that home. */
  inherit: string[];
  /** What the agent may use. Default: `safePermissions` for an agent that is asked through a protocol. */
  permissions?: Partial<Permissions>;
  /** Decides what the agent asks a human, in this order. What no rule and no permission allows is denied. */
  policy?: PolicyRule[];
  /** Options of this kind only; its page has them. */
  options?: JsonObject;
};

export type ModuleOptions = {
  /** Absolute path of the module. */
  file: string;
  /** Passed to the adapter, which defines its meaning. */
  model?: string;
  /** The adapter itself, where a program has it already. Then `file` is only what its code is hashed by. */
  adapter?: Agent;
};

export type LoopOptions = ProviderOptions & {
  profile: LoopProfile;
  /** Model id. Default: the profile's own. */
  model?: string;
  reasoningEffort?: string;
  /** Default 200. */
  maxToolRounds?: number;
};

export type TelemetryConfig = {
  collector: 'none' | 'json-file' | 'codex-jsonl';
  /** Relative to the output directory of the case. */
  file: string;
  /** The variable that gives the agent the path of `file`; `null`: no variable. */
  environmentVariable: string | null;
};

export type SkillConfig = {
  name: string;
  description: string;
  /** Absolute path of the folder with its SKILL.md. */
  source: string;
};

/** A plugin folder in the format of one or more agents. */
export type PluginConfig = {
  name: string;
  version?: string;
  description?: string;
  /** Absolute path. */
  source: string;
  /** The agents whose manifest the plugin has: at least one. */
  kinds: DrivenAgentKind[];
};

/** `${NAME}` in `env` and `headers` is replaced with a variable of the user's environment, as in an agent's `env`. */
export type McpServerConfig =
  | {
      kind: 'command';
      name: string;
      /** `file` is an absolute path, fingerprinted by its content. */
      command: string | { file: string };
      args: (string | { file: string })[];
      env: Record<string, string>;
    }
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> };
