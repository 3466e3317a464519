import { resolve } from 'node:path';
import { toAgentConfig } from '../agent-options.ts';
import type { AgentConfig } from '../config.ts';
import { testedVersion } from '../install/install-agent.ts';
import { agentKeyVariable } from '../kit/agent-secrets.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import { drivenAgentOf } from '../native/driven-agent-of.ts';
import type { DrivenAgent, NativeFacts } from '../native/native-agent.ts';
import {
  type AgentKind,
  agentKinds,
  enforcerOf,
  isDrivenKind,
  nativeAgentOf,
  type ProtocolKind,
  protocolAgentsOf,
} from '../native/native-agents.ts';
import { takesOutputSchema } from '../native/takes-output-schema.ts';
import { enforceable } from '../policy/permissions.ts';

/** What each column of the matrix says (provider taxonomy, "Provider Capability Matrix"). */
export const matrixColumns = {
  agent: 'agent',
  aliases: 'other names',
  runtime: 'where it runs',
  needs: 'what it needs',
  wire: 'wire',
  key: 'key without a gateway',
  login: 'login instead of a key',
  loginCalls: 'calls of a login',
  workspace: 'workspace',
  sandbox: 'sandbox',
  filesystem: 'file system',
  shell: 'shell',
  network: 'network',
  apps: 'apps',
  questions: 'its questions',
  inputs: 'inputs',
  instructions: 'instructions',
  skills: 'skills',
  mcpServers: 'MCP servers',
  plugins: 'plugins',
  customAgents: 'agents of yours inside it',
  structuredOutput: 'structured output',
  sessions: 'several turns',
  events: 'events from',
  tracing: 'traces',
  raw: 'raw protocol',
  attaches: 'attaches to a running server',
  retries: 'retries bounded by',
} as const;

/** One agent in plain text, by column. `–`: it has nothing of that. */
export type MatrixRow = Readonly<Record<keyof typeof matrixColumns, string>>;

/**
 * What each kind of agent can do, from the facts that adapters keep: one row for each kind, one for each agent that a
 * protocol drives (`acp:gemini-cli`), and two for modules.
 */
export function capabilityMatrix(): MatrixRow[] {
  const modules = [rowOf('http', moduleConfig), { ...rowOf('ai-sdk-harness', moduleConfig), ...HARNESS }];
  return [
    ...agentKinds.flatMap((kind) => [rowOf(kind, usualConfig(kind)), ...protocolRows(kind)]),
    ...modules,
  ];
}

/** The kind that a row is about, by which a user asks for it. */
export const kindOfRow = ({ agent }: MatrixRow): string => agent.replace(/:.*/, '');

function protocolRows(kind: AgentKind): MatrixRow[] {
  return Object.keys(protocolAgentsOf(kind) ?? {}).map((agent) => {
    const config = toAgentConfig({ kind: kind as ProtocolKind, agent });
    return { ...rowOf(`${kind}:${agent}`, config), aliases: NONE };
  });
}

const NONE = '–';
const yes = (can: boolean): string => (can ? 'yes' : NONE);

/** A configuration as the page of the agent shows it. */
export function usualConfig(kind: AgentKind): AgentConfig {
  if (kind === 'loop') return toAgentConfig({ kind, profile: 'openai' });
  return isDrivenKind(kind) ? toAgentConfig({ kind }) : toAgentConfig({ kind, command: [kind] });
}

const moduleConfig = toAgentConfig({ module: resolve('/agents/mine.ts') });

/** What `defineHarnessAgent` does of what a module may do. */
const HARNESS: Partial<MatrixRow> = {
  needs: 'a module of yours, and an adapter of @ai-sdk/harness',
  questions: 'declined',
  inputs: 'text',
  structuredOutput: NONE,
  sessions: 'by its session’s id',
};

function rowOf(agent: string, config: AgentConfig): MatrixRow {
  const places = contextPlacesOf(config);
  const schema = takesOutputSchema(config);
  const isUsers = config.runner === 'command' || config.runner === 'module';
  const given = (can: boolean) => (isUsers ? 'by `context`' : yes(can));
  const native = config.runner === 'driver' ? drivenAgentOf(config) : nativeAgentOf(config.kind);
  const { stream, facts = {} as Partial<NativeFacts> } = native ?? {};
  return {
    agent,
    aliases: native?.aliases?.join(', ') ?? NONE,
    ...runtimeOf(config),
    ...signIn(facts),
    workspace: 'its own, disposable',
    sandbox: sandboxOf(config),
    ...permissionCells(config),
    inputs: config.runner === 'module' ? 'as it says' : ['text', ...(facts.inputs ?? [])].join(', '),
    instructions: places.instructions,
    skills: given(places.skills !== undefined),
    mcpServers: given(places.mcpServers === true),
    plugins: isUsers ? NONE : yes(places.plugins !== undefined),
    customAgents: customAgentsOf(config),
    structuredOutput: schema === 'module' ? 'as it says' : yes(schema),
    events: eventsOf(config),
    tracing: tracesOf(config),
    raw: stream ? 'its output, as printed' : NONE,
    attaches: attachesBy(config),
  };
}

/** Every agent has that of its case; with closer permissions some start commands in one of their own, too. */
function sandboxOf(config: AgentConfig): string {
  const agent = config.runner === 'driver' ? drivenAgentOf(config) : undefined;
  const hasOwn = agent?.facts.enforces?.ownSandbox !== undefined;
  return hasOwn ? 'that of the case, and its own in it' : 'that of the case';
}

/** The option that defines or names an agent within the agent. */
function customAgentsOf(config: AgentConfig): string {
  const shape = config.runner === 'driver' ? (drivenAgentOf(config).options?.shape ?? {}) : {};
  const option = ['agents', 'agent'].find((name) => Object.hasOwn(shape, name));
  return option === undefined ? NONE : `with options.${option}`;
}

/** Spans are made of the events of every agent; some programs can also send their own. */
function tracesOf(config: AgentConfig): string {
  const own = config.runner === 'driver' && drivenAgentOf(config).options?.shape.trace !== undefined;
  return own ? 'of its events, and its own with options.trace' : 'of its events';
}

function attachesBy(config: AgentConfig): string {
  const { attaches } = config.runner === 'driver' ? drivenAgentOf(config) : {};
  return attaches ? `with options.${attaches.option}` : NONE;
}

/** The values of each permission that a configuration can hold the agent to. */
function permissionCells(
  config: AgentConfig,
): Pick<MatrixRow, 'filesystem' | 'shell' | 'network' | 'apps' | 'questions'> {
  const { enforces, asks } =
    config.runner === 'driver'
      ? enforcerOf(drivenAgentOf(config))
      : { enforces: {}, asks: nativeAgentOf(config.kind)?.commandDialogue !== undefined };
  const values = (surface: 'filesystem' | 'shell' | 'network' | 'apps') =>
    enforceable(surface, enforces).join(', ');
  return {
    filesystem: values('filesystem'),
    shell: values('shell'),
    network: values('network'),
    apps: values('apps'),
    questions: asks ? 'answered by the policy' : 'it asks none',
  };
}

type Runtime = Pick<MatrixRow, 'runtime' | 'needs' | 'wire' | 'key' | 'sessions'>;

function runtimeOf(config: AgentConfig): Runtime {
  const own = { wire: 'its own', key: 'its own' };
  switch (config.runner) {
    case 'driver': {
      const agent = drivenAgentOf(config);
      const { release, launch } = agent;
      return {
        runtime: isSdk(agent)
          ? 'its SDK, in a bridge per turn'
          : `its program, once per turn${launch.dialogue ? ', over its protocol' : ''}`,
        needs: [agent, ...(release.starts ? [release.starts] : [])].map(neededBy).join('; '),
        wire: release.wire,
        key: agentKeyVariable(config) ?? NONE,
        sessions: 'by its session’s id',
      };
    }
    case 'loop':
      return {
        ...{ runtime: 'in this process', needs: 'nothing', wire: 'by its profile' },
        ...{ key: 'by its profile', sessions: 'by a snapshot' },
      };
    case 'module':
      return { runtime: 'in this process', needs: 'a module of yours', ...own, sessions: 'as it says' };
    case 'command':
      return {
        runtime: 'its program, once per turn',
        needs: 'a command of yours',
        ...own,
        sessions: 'by {session_id}',
      };
  }
}

const isSdk = ({ release }: DrivenAgent): boolean => 'module' in release.entry;

const neededBy = (agent: DrivenAgent): string =>
  `${isSdk(agent) ? 'the package' : `${agent.release.program} of`} ${agent.release.package}, tested with ${testedVersion(agent)}`;

function eventsOf({ runner, kind }: AgentConfig): string {
  if (runner === 'module' || runner === 'loop') return 'itself';
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  return [stream ? 'its stream' : 'its text', ...(transcript ? ['its transcript'] : [])].join(', ');
}

function signIn({
  login,
  retries,
}: Partial<NativeFacts>): Pick<MatrixRow, 'login' | 'loginCalls' | 'retries'> {
  const bound = retries ? ('variable' in retries ? retries.variable : retries.setting) : NONE;
  if (!login || login.ended !== undefined) return { login: NONE, loginCalls: NONE, retries: bound };
  const { variables = [], file, upstreams } = login;
  const places = [...variables, ...(file ? [`~/${file.path}`] : [])];
  const way = Object.keys(upstreams).length > 0 ? 'through the gateway' : 'beside the gateway';
  return { login: places.join(', '), loginCalls: way, retries: bound };
}
