import { pathToFileURL } from 'node:url';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { Agent } from '../agent.ts';
import type { ModuleAgentConfig } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { placeContext } from '../kit/place-context.ts';
import { driveAdapter } from './drive-adapter.ts';
import { loadTypescriptSources } from './typescript-sources.ts';

/**
 * An agent that is the default export of a module of the user, made with `defineAgent` or `defineSandboxAgent`. The module
 * runs in this process, with the rights and the environment of the user. The commands that it runs in the sandbox get the
 * agent's `env`.
 *
 * @throws WhetstoneError `agent-module-invalid` for a module that cannot be loaded or whose default export is not an agent.
 */
export async function createModuleAgent(
  config: ModuleAgentConfig,
  { env }: AgentEnvironment,
): Promise<Agent> {
  const { model } = config.module;
  const adapter = await loadAdapter(config);
  return {
    name: config.name,
    capabilities: adapter.capabilities,
    async send(input, context) {
      await placeContext(config, context);
      const turn = await driveAdapter(adapter, input, { ...context, model: model ?? context.model }, { env });
      return { ...turn, facts: { runtime: config.kind, ...turn.facts } };
    },
  };
}

async function loadAdapter({ name, module: { file, adapter } }: ModuleAgentConfig): Promise<Agent> {
  if (adapter) return adapter;
  const where = `agents.${name}.module`;
  const failed = (what: string, hint: string, cause?: unknown) =>
    new WhetstoneError('agent-module-invalid', `${file}: ${what}`, { where, hint, cause });
  let loaded: { default?: unknown };
  loadTypescriptSources();
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw failed(`cannot be loaded: ${messageOf(error)}`, hintFor(error), error);
  }
  if (isAgent(loaded.default)) return loaded.default;
  throw failed(
    'the default export is not an agent',
    'Write `export default defineAgent({ name, send })`, with defineAgent from whetstone/adapter.',
  );
}

function isAgent(value: unknown): value is Agent {
  const agent = value as Partial<Agent> | null | undefined;
  return typeof agent === 'object' && typeof agent?.name === 'string' && typeof agent.send === 'function';
}

function hintFor(error: unknown): string {
  const message = messageOf(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'whetstone'")) {
    return 'Install whetstone beside the module: npm install --save-dev whetstone';
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return 'Remove enums, namespaces and parameter properties: Node does not run them.';
  }
  const [, missing] = /does not provide an export named '(.+?)'/.exec(message) ?? [];
  if (missing !== undefined) {
    return `If ${missing} is a type, import it with \`import type\`: Node removes types file by file.`;
  }
  if (code === 'ERR_MODULE_NOT_FOUND' && message.includes('Cannot find package')) {
    return 'Install the package beside the module. Node does not read the paths of tsconfig.json: import such a file by its relative path.';
  }
  return 'Run the module with `node` to see where it fails.';
}
