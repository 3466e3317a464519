import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeclaredContext, DeclaredPlugin, DeclaredSkill, McpServer } from '@whetstone/agents';
import type { McpServerConfig, PluginConfig, SkillConfig } from '@whetstone/agents/config';
import { pluginContents, resolveAgentEnv } from '@whetstone/agents/evaluator';
import { present } from '@whetstone/events/present';
import { isSecretName, type SandboxFile } from '@whetstone/sandbox';
import type { VariantConfig } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';

/**
 * Reads the context that a variant declares.
 * @throws WhetstoneError `env-missing` when a server needs a variable that `environment` does not set
 */
export async function readDeclaredContext(
  { name, instructions, skills = [], mcpServers = [], plugins = [] }: VariantConfig,
  environment: NodeJS.ProcessEnv,
): Promise<DeclaredContext> {
  const resolved = mcpServers.map((server) => resolveServer(server, name, environment));
  const text =
    instructions && 'file' in instructions ? await readFile(instructions.file, 'utf8') : instructions?.text;
  return {
    ...present({ instructions: text }),
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
  return { name, ...present({ version }), files, ...pluginContents(files) };
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
  const where = `variants.${variant}.mcp_servers.${server.name}`;
  const owner = { what: `The MCP server ${server.name}`, where };
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
