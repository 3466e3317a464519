import type { SandboxFile } from '@whetstone/sandbox';

/** What a variant gives its agents besides the tree. It is read once per run. */
export type DeclaredContext = {
  /** Text of the instructions, which are already in the workspace under the name that the agent looks for. */
  instructions?: string;
  skills: readonly DeclaredSkill[];
  mcpServers: readonly McpServer[];
  plugins: readonly DeclaredPlugin[];
  /** Values that must not be stored: from `${NAME}`, or with the name of a secret. */
  secrets: readonly string[];
};

export type DeclaredSkill = {
  name: string;
  description: string;
  /** The skill's SKILL.md, with its front matter. */
  text: string;
  /** Paths relative to the skill's folder. */
  files: readonly SandboxFile[];
};

export type DeclaredPlugin = PluginContents & {
  name: string;
  version?: string;
  /** Paths relative to the plugin's folder. */
  files: readonly SandboxFile[];
};

/** The parts of a plugin that model requests show once an agent has loaded it. */
export type PluginContents = {
  skills: readonly { name: string; description: string /** Its SKILL.md. */; text: string }[];
  /** Names. */
  mcpServers: readonly string[];
  /** Texts that the agent adds to its prompt. */
  context: readonly string[];
};

/** An MCP server with `${NAME}` replaced. The agent starts the command, in the sandbox. */
export type McpServer =
  | { kind: 'command'; name: string; command: string; args: string[]; env: Record<string, string> }
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> };
