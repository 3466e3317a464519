import { join } from 'node:path';
import type { Sandbox, SandboxFile } from '@whetstone/sandbox';
import type { AgentContext } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import type { DeclaredPlugin } from './declared-context.ts';
import { mcpServersOf, typedAddress } from './mcp-settings.ts';

/**
 * At the start of a session, puts what a variant declares where the agent looks for it: skills and plugins into the
 * agent's home and, for commands and modules, a file with the MCP servers in the format that most agents read:
 * `{"mcpServers": {NAME: {command, args, env} | {type: "http", url, headers}}}`. Instructions are already in the
 * workspace. Agents that Whetstone starts get their servers from their own settings.
 */
export async function placeContext(
  agent: AgentConfig,
  { sandbox, declared, session }: Pick<AgentContext, 'sandbox' | 'declared' | 'session'>,
): Promise<void> {
  if (!sandbox || !declared || !session.isNew) return;
  const { skills, mcpServers, plugins } = contextPlacesOf(agent);
  if (skills !== undefined) await placeFolders(sandbox, `${skills}/NAME`, declared.skills);
  if (plugins !== undefined) await placeFolders(sandbox, plugins, declared.plugins);
  const entries = mcpServersOf(declared.mcpServers, typedAddress);
  if (typeof mcpServers !== 'object' || !entries) return;
  const content = `${JSON.stringify({ mcpServers: entries }, null, 2)}\n`;
  await sandbox.writeFiles({ [`~/${mcpServers.file}`]: content });
}

/** Uploads folders into the agent's home. In `place`, the name of each folder replaces `NAME`. */
async function placeFolders(
  sandbox: Sandbox,
  place: string,
  folders: readonly { name: string; files: readonly SandboxFile[] }[],
): Promise<void> {
  const files = folders.flatMap(({ name, files }) =>
    files.map((file) => ({ ...file, path: `~/${place.replace('NAME', name)}/${file.path}` })),
  );
  if (files.length > 0) await sandbox.uploadFiles(files);
}

/** Workspace and MCP servers of a turn, for the mapper that reads it. */
export const placeOf = ({ sandbox, declared }: AgentContext & { sandbox: Sandbox }) => ({
  workdir: sandbox.workdir,
  ...(declared && { mcpServers: declared.mcpServers.map(({ name }) => name) }),
});

/** The folders of the plugins in the agent's home; none if the agent takes no plugins. */
export function pluginFolders(
  plugins: readonly DeclaredPlugin[],
  agent: AgentConfig,
  { home }: Pick<Sandbox, 'home'>,
): { name: string; folder: string; mcpServers: readonly string[] }[] {
  const { plugins: place } = contextPlacesOf(agent);
  if (place === undefined) return [];
  return plugins.map(({ name, mcpServers }) => {
    return { name, folder: join(home, place.replace('NAME', name)), mcpServers };
  });
}
