import { join } from 'node:path';
import type { Sandbox, SandboxFile } from '@whetstone/sandbox';
import type { AgentConfig } from '../config.ts';
import { contextPlacesOf } from '../native/context-places.ts';

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

/** Puts skills into the agent's home, `folder/NAME/`. */
export const placeSkills = (
  sandbox: Sandbox,
  folder: string,
  skills: readonly DeclaredSkill[],
): Promise<void> => placeFolders(sandbox, `${folder}/NAME`, skills);

/** Puts folders with their files into the agent's home; `NAME` in `place` is that of each. */
export async function placeFolders(
  sandbox: Sandbox,
  place: string,
  folders: readonly { name: string; files: readonly SandboxFile[] }[],
): Promise<void> {
  const files = folders.flatMap(({ name, files }) =>
    files.map((file) => ({ ...file, path: `~/${placeOf(name, place)}/${file.path}` })),
  );
  if (files.length > 0) await sandbox.uploadFiles(files);
}

/** Where the plugins lie in the home of such an agent. */
export function pluginFolders(
  plugins: readonly DeclaredPlugin[],
  agent: Pick<AgentConfig, 'kind' | 'cli' | 'context'>,
  { home }: Pick<Sandbox, 'home'>,
): { name: string; folder: string }[] {
  const { plugins: place } = contextPlacesOf(agent);
  if (place === undefined) return [];
  return plugins.map(({ name }) => ({ name, folder: join(home, placeOf(name, place)) }));
}

const placeOf = (name: string, place: string): string => place.replace('NAME', name);
