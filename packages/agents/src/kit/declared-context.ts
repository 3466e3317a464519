import type { SandboxFile } from '@whetstone/sandbox';

/** What a variant gives its agents besides the tree, read once a run. */
export type DeclaredContext = {
  /** Already in the workspace, under the name that the agent looks for. */
  instructions?: string;
  skills: readonly DeclaredSkill[];
  mcpServers: readonly McpServer[];
  plugins: readonly DeclaredPlugin[];
  /** What must not be kept: values of `${NAME}`, and what is named like a secret. */
  secrets: readonly string[];
};

export type DeclaredSkill = {
  name: string;
  description: string;
  /** Its SKILL.md, front matter included. */
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

/** What of a plugin a model request tells of once an agent has loaded it. */
export type PluginContents = {
  skills: readonly { name: string; description: string /** Its SKILL.md. */; text: string }[];
  /** Names. */
  mcpServers: readonly string[];
  /** Texts that an agent puts into its prompt. */
  context: readonly string[];
};

/** `${NAME}` filled in. A command runs in the sandbox: the agent starts it. */
export type McpServer =
  | { kind: 'command'; name: string; command: string; args: string[]; env: Record<string, string> }
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> };
