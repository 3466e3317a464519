import { createHash } from 'node:crypto';
import type { AgentConfig, McpServerConfig, PluginConfig, SkillConfig } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import type {
  Config,
  GatewayConfig,
  InstructionsConfig,
  JudgeConfig,
  OverlayOperation,
  TaskConfig,
  VariantConfig,
} from '../config/config.ts';
import { hashModule } from '../config/hash-module.ts';
import { WORKING_INSTRUCTIONS } from '../config/render-prompt.ts';
import { hashFile, hashSource } from '../config/source-tree.ts';
import { hashJson } from './hash-json.ts';

/** Fingerprints are sha256 over contents. No absolute path is hashed, so moving a config changes nothing. */

/** The configuration of an agent without its name; a module with what it imports; `${NAME}` as written. */
export async function fingerprintAgent(agent: AgentConfig): Promise<string> {
  const { name: _, promptTemplate, ...definition } = agent;
  const prompt = promptTemplate
    ? { template: await hashFile(promptTemplate) }
    : { builtIn: WORKING_INSTRUCTIONS };
  if (definition.runner !== 'module') return hashJson({ ...definition, prompt });
  const { adapter: _adapter, ...stated } = definition.module;
  const module = { ...stated, file: await hashModule(definition.module.file) };
  return hashJson({ ...definition, prompt, module });
}

/** The overlays of the variant in order, their sources by content, and the context that it declares. */
export async function fingerprintVariant(variant: VariantConfig): Promise<string> {
  const overlays = await Promise.all(variant.overlays.map(overlayContent));
  const context = await contextContent(variant);
  const { flags } = variant;
  // Without a context only the overlays are hashed, so that runs of older versions can be resumed.
  if (!context && !flags) return hashJson(overlays);
  const servers = await Promise.all((variant.mcpServers ?? []).map(serverContent));
  return hashJson({ overlays, ...context, servers, flags });
}

async function overlayContent(overlay: OverlayOperation): Promise<unknown> {
  return overlay.kind === 'copy' ? { ...overlay, source: await hashSource(overlay.source) } : overlay;
}

/** The context that a variant declares, by name and content (sha256); `undefined` where it declares none. */
export async function contextContent({
  instructions,
  skills = [],
  mcpServers = [],
  plugins = [],
}: VariantConfig) {
  if (!instructions && [...skills, ...mcpServers, ...plugins].length === 0) return undefined;
  return {
    instructions: instructions ? await instructionsContent(instructions) : null,
    ...(instructions && { instructions_mode: instructions.mode }),
    skills: await Promise.all(skills.map(folderContent)),
    mcp_servers: mcpServers.map(({ name }) => name),
    // Left out where there are none, so that runs of older versions can be resumed.
    ...(plugins.length > 0 && { plugins: await Promise.all(plugins.map(pluginContent)) }),
  };
}

const folderContent = async ({ name, source }: SkillConfig | PluginConfig) => ({
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

/** Files of the user by content, modules with what they import; everything else as written, secrets unresolved. */
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

/** The task with its effective validation, hidden tests by content. Includes keys that this version does not know. */
export async function fingerprintTask(task: TaskConfig): Promise<string> {
  // No case gets the patch that solves the task.
  const { hiddenTests, overlays, goldPatch: _, eval: code, ...definition } = task;
  return hashJson({
    ...definition,
    ...(overlays && { overlays: await Promise.all(overlays.map(overlayContent)) }),
    ...(hiddenTests && { hiddenTests: await hashSource(hiddenTests) }),
    ...(code && {
      eval: { key: code.key, requires: code.requires, tests: code.tests, code: await hashModule(code.file) },
    }),
  });
}

/** Scripts and recordings by content. The variable that holds a key is not hashed. */
async function gatewayContent(gateway: GatewayConfig): Promise<unknown> {
  const { mode, faults, budget } = gateway;
  // Left out where they are not used, so that runs of older versions can be resumed.
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

/** The name of an image that is built says what it is made of, wherever that lies. */
function sandboxContent({ container, ...sandbox }: Config['sandbox']): unknown {
  if (!container) return sandbox;
  const { build: _, ...named } = container;
  return { ...sandbox, container: named };
}

/** What all cases of a run depend on. */
export async function fingerprintSurroundings(
  { sandbox, environment, gateway, judge }: Config,
  withheld: readonly string[],
): Promise<string> {
  const content = gateway && (await gatewayContent(gateway));
  // Left out where there are none, so that runs of older versions can be resumed.
  return hashJson({
    ...{ sandbox: sandboxContent(sandbox), gateway: content },
    ...(withheld.length > 0 && { withheld }),
    ...present({ environment }),
    ...(judge && { judge: await judgeContent(judge) }),
  });
}

/** Two judges with the same fingerprint give verdicts of the same kind. */
export const fingerprintJudge = async (judge: JudgeConfig): Promise<string> =>
  hashJson(await judgeContent(judge));

/** A model that is made in code by the code around it. Budgets change no verdict. */
async function judgeContent({
  model,
  agent,
  votes,
  script,
  sameAsAgent,
  file,
}: JudgeConfig): Promise<unknown> {
  return {
    ...{ votes, sameAsAgent },
    model: typeof model === 'function' ? await hashModule(file) : model,
    agent: agent && (await fingerprintAgent(agent)),
    script: script && (await hashFile(script)),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
