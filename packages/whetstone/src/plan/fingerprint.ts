import { createHash } from 'node:crypto';
import type { AgentConfig, McpServerConfig, PluginConfig, SkillConfig } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import type {
  Config,
  GatewayConfig,
  InstructionsConfig,
  OverlayOperation,
  TaskConfig,
  VariantConfig,
} from '../config/config.ts';
import { hashModule } from '../config/hash-module.ts';
import { WORKING_INSTRUCTIONS } from '../config/render-prompt.ts';
import { hashFile, hashSource } from '../config/source-tree.ts';
import { hashJson } from './hash-json.ts';

/**
 * Fingerprints are sha256 over contents: no absolute path goes in, so moving a config changes nothing, and every file
 * that a path stands for goes in by its bytes.
 */

/**
 * The agent as configured, its name apart, a module with what it imports. Environment values as written: `${NAME}` is
 * never resolved here.
 */
export async function fingerprintAgent(agent: AgentConfig): Promise<string> {
  const { name: _, promptTemplate, ...definition } = agent;
  const prompt =
    promptTemplate === undefined
      ? { builtIn: WORKING_INSTRUCTIONS }
      : { template: await hashFile(promptTemplate) };
  if (definition.runner !== 'module') return hashJson({ ...definition, prompt });
  const module = { ...definition.module, file: await hashModule(definition.module.file) };
  return hashJson({ ...definition, prompt, module });
}

/**
 * What the variant does to the tree, its operations in order and sources by content, and what it gives agents besides.
 */
export async function fingerprintVariant(variant: VariantConfig): Promise<string> {
  const overlays = await Promise.all(variant.overlays.map(overlayContent));
  const context = await contextContent(variant);
  // Without a context the overlays alone, so that what an older version planned can be resumed.
  if (!context) return hashJson(overlays);
  const servers = await Promise.all((variant.mcpServers ?? []).map(serverContent));
  return hashJson({ overlays, ...context, servers });
}

async function overlayContent(overlay: OverlayOperation): Promise<unknown> {
  return overlay.kind === 'copy' ? { ...overlay, source: await hashSource(overlay.source) } : overlay;
}

/** What a variant declares, named and by content (sha256); `undefined` where it declares nothing. */
export async function contextContent({
  instructions,
  skills = [],
  mcpServers = [],
  plugins = [],
}: VariantConfig): Promise<ContextContent | undefined> {
  if (!instructions && [...skills, ...mcpServers, ...plugins].length === 0) return undefined;
  return {
    instructions: instructions ? await instructionsContent(instructions) : null,
    skills: await Promise.all(skills.map(folderContent)),
    mcp_servers: mcpServers.map(({ name }) => name),
    // Left out where there are none, so that what an older version planned can be resumed.
    ...(plugins.length > 0 && { plugins: await Promise.all(plugins.map(pluginContent)) }),
  };
}

export type ContextContent = {
  instructions: string | null;
  skills: FolderContent[];
  mcp_servers: string[];
  plugins?: (FolderContent & { version: string | null; description: string | null })[];
};

type FolderContent = { name: string; sha256: string };

const folderContent = async ({ name, source }: SkillConfig | PluginConfig): Promise<FolderContent> => ({
  name,
  sha256: await hashSource(source),
});

const pluginContent = async (plugin: PluginConfig) => ({
  ...(await folderContent(plugin)),
  version: plugin.version ?? null,
  description: plugin.description ?? null,
});

const instructionsContent = async (instructions: InstructionsConfig): Promise<string> =>
  'file' in instructions ? hashFile(instructions.file) : sha256(instructions.text);

/** A file of the user's by content, a module with what it imports; the rest as written, secrets unresolved. */
async function serverContent(server: McpServerConfig): Promise<unknown> {
  if (server.kind === 'http') return server;
  const parts = [server.command, ...server.args].map((part) =>
    typeof part === 'string' ? part : hashProgram(part.file),
  );
  return { ...server, command: await parts[0], args: await Promise.all(parts.slice(1)) };
}

const hashProgram = async (file: string): Promise<{ sha256: string }> => ({
  sha256: await (/\.[cm]?[jt]s$/.test(file) ? hashModule(file) : hashFile(file)),
});

/** The task with its effective validation, hidden tests by content, keys unknown to this version included. */
export async function fingerprintTask(task: TaskConfig): Promise<string> {
  const { hiddenTests, ...definition } = task;
  return hashJson({
    ...definition,
    hiddenTests: hiddenTests === undefined ? undefined : await hashSource(hiddenTests),
  });
}

/** A script and recordings by content; where a key is read from changes nothing. */
async function gatewayContent(gateway: GatewayConfig): Promise<unknown> {
  const { mode, faults, budget } = gateway;
  // Left out where they are not used, so that what an older version planned can be resumed.
  const limits = { ...(faults.length > 0 && { faults }), ...present({ budget }) };
  switch (mode) {
    case 'script':
      return { mode, script: await hashFile(gateway.script), ...limits };
    case 'replay':
      return { mode, cassettes: await hashSource(gateway.cassettes), miss: gateway.miss, ...limits };
    default:
      return {
        mode,
        upstreams: gateway.upstreams.map(({ provider, baseUrl }) => ({ provider, baseUrl })),
        ...limits,
      };
  }
}

/** What all cases of a run share and depend on. */
export async function fingerprintSurroundings({ sandbox, gateway }: Config): Promise<string> {
  return hashJson({
    sandbox,
    gateway: gateway && (await gatewayContent(gateway)),
  });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
