import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { McpServerConfig } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { type SandboxProvider, startSandboxProvider } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { readModule } from '../config/hash-module.ts';
import type { Selected } from '../config/needs-open-sandbox.ts';
import { inPlan, type Plan } from '../plan/plan.ts';

/** Starts the sandboxes of a run. Where they show only what is listed, that is what the agents' programs are made of. */
export async function startSandboxes(config: Config, plan: Plan, scratch: string): Promise<SandboxProvider> {
  const { provider, limits, container, hosts, setupHosts } = config.sandbox;
  const options = { scratch, ...present({ limits, container, hosts, setupHosts }) };
  if (provider === 'process') return startSandboxProvider(provider, options);
  const selected = {
    agents: inPlan(config.agents, plan.agents),
    variants: inPlan(config.variants, plan.variants),
  };
  return startSandboxProvider(provider, { ...options, readable: await readablePaths(config, selected) });
}

/** What commands read beside the system's programs and their own folders: agents, MCP servers, and what the user lists. */
export async function readablePaths(
  { judge, sandbox }: Pick<Config, 'judge' | 'sandbox'>,
  { agents, variants }: Pick<Selected, 'agents' | 'variants'>,
): Promise<string[]> {
  const { programFolders } = await import('@whetstone/agents/install');
  const programs = [...agents, ...(judge?.agent ? [judge.agent] : [])].map(programFolders);
  const servers = variants.flatMap(({ mcpServers = [] }) => mcpServers).flatMap(serverFiles);
  const found = await Promise.all([...programs, ...servers]);
  return [...new Set([...found.flat(), ...(sandbox.readable ?? [])])];
}

/** The files of a server that the configuration names, with what they import. */
function serverFiles(server: McpServerConfig): Promise<string[]>[] {
  if (server.kind === 'http') return [];
  const files = [server.command, ...server.args].flatMap((part) =>
    typeof part === 'string' ? [] : part.file,
  );
  return files.map(async (file) => {
    const modules = /\.[cm]?[jt]s$/.test(file) ? [...(await readModule(file)).keys()] : [file];
    return [...modules, ...foldersAbove(file).flatMap(packagesIn)];
  });
}

const packagesIn = (folder: string): string[] =>
  ['node_modules', 'package.json'].map((name) => join(folder, name)).filter((path) => existsSync(path));

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}
