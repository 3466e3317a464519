import { type AgentConfig, type Command, commandParts } from '@whetstone/agents/config';
import { hasOwnSandbox, leadsToGateway } from '@whetstone/agents/evaluator';
import { unseenPaths } from '@whetstone/sandbox';
import type { Config, TaskConfig, VariantConfig } from './config.ts';

/** Of a configuration: what a run would work on. */
export type Selected = {
  agents: readonly AgentConfig[];
  tasks: readonly TaskConfig[];
  variants: readonly VariantConfig[];
};

/**
 * Why cases of a run would break where they reach nothing but a gateway and see only what is listed, as far as the
 * configuration says: sentences. `readable`: what is listed. `platform`: on macOS a sealed command has no loopback of its own,
 * and setup the same network as an agent.
 */
export function needsOpenSandbox(
  { gateway, environment, judge, sandbox }: Pick<Config, 'gateway' | 'environment' | 'judge' | 'sandbox'>,
  { agents, tasks, variants }: Selected,
  readable: readonly string[],
  platform: NodeJS.Platform = process.platform,
): string[] {
  const isMac = platform === 'darwin';
  const services = (environment?.services ?? []).map(
    ({ command }): Command => ({ kind: 'shell', script: command }),
  );
  const prepared = [...(environment?.prepare ?? []), ...tasks.flatMap(({ setup }) => setup), ...services];
  const checks = tasks.flatMap(({ validation, hardEvaluation, eval: code }) => [
    ...validation.commands,
    ...(hardEvaluation?.commandChecks ?? []).map(({ command }) => command),
    ...(code?.tests ? [code.tests] : []),
  ]);
  const words = [
    ...agents.flatMap(wordsOf),
    ...variants.flatMap(({ mcpServers = [] }) => mcpServers.flatMap(serverWords)),
    ...[...prepared, ...checks].flatMap(commandParts),
  ];
  const reasons = [
    ...[...agents, ...(judge?.agent ? [judge.agent] : [])].flatMap((agent) => openAgent(agent, gateway)),
    ...variants.flatMap(({ name, mcpServers = [] }) =>
      mcpServers
        .filter(({ kind }) => kind === 'http')
        .map((server) => `The MCP server ${server.name} of the variant ${name} is reached by the network.`),
    ),
    // Whoever lists hosts says what the commands need.
    ...(sandbox.hosts ? [] : checks.filter((command) => NETWORK.test(textOf(command))).map(needsNetwork)),
    ...(isMac && !sandbox.hosts && prepared.some((command) => NETWORK.test(textOf(command)))
      ? ['What installs packages needs the network, and on macOS only `sandbox.hosts` opens it.']
      : []),
    ...(isMac && services.length > 0
      ? ['`environment.services` need ports of this machine, which are closed in a sealed sandbox on macOS.']
      : []),
    ...[...prepared, ...checks].filter((command) => CONTAINERS.test(textOf(command))).map(needsContainers),
    ...unseenPaths(pathsIn(words), readable).map(
      (path) => `${path} is named in a command, and only \`sandbox.readable\` would make it visible.`,
    ),
  ];
  return [...new Set(reasons)];
}

function openAgent(agent: AgentConfig, gateway: Config['gateway']): string[] {
  const { name, runner, network } = agent;
  if (runner === 'module')
    return [`The agent ${name} is code in the process of Whetstone, which no sandbox holds.`];
  if (runner === 'loop') return [];
  if (network === 'enabled') return [`The agent ${name} is configured with \`network: enabled\`.`];
  if (hasOwnSandbox(agent) || (agent.runner === 'command' && OWN_SANDBOX.test(textOf(agent.command)))) {
    return [`The agent ${name} confines its commands itself, which fails in a sealed sandbox.`];
  }
  if (gateway && leadsToGateway(agent)) return [];
  return [`The agent ${name} does not use a gateway, so it needs the network to reach its model.`];
}

/** Programs that fetch something, as a command of a check would start them. */
const NETWORK =
  /\b(?:(?:npm|pnpm|yarn|bun) (?:ci|i|install|add)|npx|(?:pip3?|uv|poetry|bundle|composer|gem) (?:install|sync)|cargo fetch|go mod download|curl|wget|git (?:clone|fetch|pull)|apt(?:-get)? )(?=$|[\s;&|])/;
/** Options of command lines that confine the commands of their model. */
const OWN_SANDBOX = /--sandbox[= ](?:workspace-write|read-only)|--full-auto/;
const CONTAINERS = /\b(?:docker|podman|docker-compose)\s/;

const needsNetwork = (command: Command): string =>
  `The check \`${textOf(command)}\` seems to fetch something: install it with \`environment.prepare\` or \`setup\`.`;

const needsContainers = (command: Command): string => `\`${textOf(command)}\` starts a container.`;

const textOf = (command: Command): string => commandParts(command).join(' ');

function wordsOf(agent: AgentConfig): string[] {
  const variables = Object.values(agent.env);
  if (agent.runner !== 'command') return variables;
  const commands = [agent.command, ...(agent.resumeCommand ? [agent.resumeCommand] : [])];
  return [...commands.flatMap(commandParts), ...variables];
}

/** The files of a server become visible. */
const serverWords = (server: NonNullable<VariantConfig['mcpServers']>[number]): string[] =>
  server.kind === 'http'
    ? []
    : [server.command, ...server.args, ...Object.values(server.env)].filter(
        (part) => typeof part === 'string',
      );

/** Absolute paths, also in a shell script. */
function pathsIn(words: readonly string[]): string[] {
  const parts = words.flatMap((word) => word.split(/[\s'"`=:;|&<>()]+/));
  return [...new Set(parts.filter((part) => /^\/[^/]/.test(part)))];
}
