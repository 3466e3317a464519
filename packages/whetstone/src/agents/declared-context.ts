import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AgentConfig,
  McpServerConfig,
  PluginConfig,
  SkillConfig,
  VariantConfig,
} from '../config/config.ts';
import { contextPlacesOf } from '../config/context-places.ts';
import { listSource } from '../config/source-tree.ts';
import type { Sandbox, SandboxFile } from '../sandbox/sandbox.ts';
import { isSecretName } from '../sandbox/scrubbed-environment.ts';
import { resolveAgentEnv } from './agent-environment.ts';
import { type PluginContents, pluginContents } from './plugin-contents.ts';

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

/** `${NAME}` filled in. A command runs in the sandbox: the agent starts it. */
export type McpServer =
  | { kind: 'command'; name: string; command: string; args: string[]; env: Record<string, string> }
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> };

/**
 * Reads what a variant declares.
 * @throws WhetstoneError `agent-env-missing` when a server wants a variable that `environment` does not set
 */
export async function readDeclaredContext(
  { name, instructions, skills = [], mcpServers = [], plugins = [] }: VariantConfig,
  environment: NodeJS.ProcessEnv,
): Promise<DeclaredContext> {
  const resolved = mcpServers.map((server) => resolveServer(server, name, environment));
  const text =
    instructions && 'file' in instructions ? await readFile(instructions.file, 'utf8') : instructions?.text;
  return {
    ...(text !== undefined && { instructions: text }),
    skills: await Promise.all(skills.map(readDeclaredSkill)),
    mcpServers: resolved.map(({ server }) => server),
    plugins: await Promise.all(plugins.map(readDeclaredPlugin)),
    secrets: resolved.flatMap(({ secrets }) => secrets).filter((secret) => secret !== ''),
  };
}

async function readDeclaredSkill({ name, description, source }: SkillConfig): Promise<DeclaredSkill> {
  const files = await readFolder(source);
  return { name, description, text: await readFile(join(source, 'SKILL.md'), 'utf8'), files };
}

async function readDeclaredPlugin({ name, version, source }: PluginConfig): Promise<DeclaredPlugin> {
  const files = await readFolder(source);
  return { name, ...(version !== undefined && { version }), files, ...pluginContents(files) };
}

async function readFolder(source: string): Promise<SandboxFile[]> {
  const entries = await listSource(source);
  return Promise.all(
    entries
      .filter((entry) => entry.kind === 'file')
      .map(async ({ path, absolute, executable }) => ({
        path,
        content: await readFile(absolute),
        mode: executable ? 0o755 : 0o644,
      })),
  );
}

function resolveServer(
  server: McpServerConfig,
  variant: string,
  environment: NodeJS.ProcessEnv,
): { server: McpServer; secrets: string[] } {
  const owner = {
    what: `The MCP server ${server.name}`,
    where: `variants.${variant}.mcp_servers.${server.name}`,
  };
  if (server.kind === 'http') {
    const { env: headers, secrets } = resolveAgentEnv(server.headers, environment, owner);
    const named = Object.entries(headers).filter(
      ([name]) => isSecretName(name) || /^authorization$/i.test(name),
    );
    return { server: { ...server, headers }, secrets: [...secrets, ...named.map(([, value]) => value)] };
  }
  const { env, secrets } = resolveAgentEnv(server.env, environment, owner);
  const [command = '', ...args] = [server.command, ...server.args].map((part) =>
    typeof part === 'string' ? part : part.file,
  );
  return { server: { kind: 'command', name: server.name, command, args, env }, secrets };
}

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
