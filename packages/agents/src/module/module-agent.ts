import { pathToFileURL } from 'node:url';
import { WhetstoneError } from '@whetstone/errors';
import type { Agent } from '../agent.ts';
import type { AgentConfig, ModuleAgentConfig } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { placeDeclared } from '../kit/place-declared.ts';
import { driveAdapter } from './drive-adapter.ts';

/**
 * An agent that a module of the user's exports by default, made with `defineAgent` or `defineSandboxAgent`. The module
 * runs in this process, with the user's rights and environment; the agent's `env` reaches the commands that it runs in
 * the sandbox.
 *
 * @throws WhetstoneError `agent-module` for a module that cannot be loaded or exports no agent.
 */
export async function createModuleAgent(
  config: AgentConfig,
  { file, model }: ModuleAgentConfig,
  { env }: AgentEnvironment,
): Promise<Agent> {
  const adapter = await loadAdapter(config, file);
  return {
    name: config.name,
    capabilities: adapter.capabilities,
    async send(input, context) {
      await placeDeclared(config, context);
      const turn = await driveAdapter(adapter, input, { ...context, model: model ?? context.model }, { env });
      const facts = { runtime: config.kind, network: config.network, ...turn.facts };
      return { ...turn, facts };
    },
  };
}

async function loadAdapter({ name }: AgentConfig, file: string): Promise<Agent> {
  const where = `agents.${name}.module`;
  const failed = (what: string, hint: string, cause?: unknown) =>
    new WhetstoneError('agent-module', `${file}: ${what}`, { exitCode: 2, where, hint, cause });
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw failed(`cannot be loaded: ${messageOf(error)}`, hintFor(error), error);
  }
  if (isAgent(module.default)) return module.default;
  throw failed(
    'its default export is no agent',
    'write `export default defineAgent({ name, send })`, from whetstone/adapter',
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
    return 'install whetstone beside the module: npm install --save-dev whetstone';
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' || code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') {
    return 'Node runs TypeScript without enums, namespaces and parameter properties';
  }
  return 'run it with `node` to see where it fails';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
