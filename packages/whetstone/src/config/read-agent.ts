import { extname } from 'node:path';
import {
  type AgentConfig,
  agentKinds,
  COMMAND_VARIABLES,
  type Command,
  type CommandAgentConfig,
  commandParts,
  commandProblems,
  driverOptions,
  isDrivenKind,
  loopOptions,
  loopProfiles,
  type ModuleOptions,
  namesVariable,
  nativeAgentOf,
  parseTemplate,
  protocolAgentsOf,
  type TelemetryConfig,
  toCommand,
  unknownVariables,
} from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { camelCased } from './camel-cased.ts';
import { checkAgentName, namesAgentOf } from './check-agent-name.ts';
import { checkAgentOptions } from './check-agent-options.ts';
import { checkMapping, isGiven, isMapping } from './check-shape.ts';
import { referenceProblem } from './environment-reference.ts';
import { existingPath, readNamedText } from './existing-path.ts';
import { PROMPT_VARIABLES } from './render-prompt.ts';
import { agentSchema, legacyAgentSchema, type RawAgent } from './schema.ts';
import { diagnosticAt, unplaced } from './source-text.ts';
import type { Spot } from './spot.ts';

const DEFAULT_TIMEOUT_SECONDS = 3600;
const MODULE_EXTENSIONS = ['.ts', '.mts', '.js', '.mjs'];

/** The legacy shape: one agent that carries its name; `kind` is `custom` where it does not say. */
export async function readLegacyAgent(
  raw: unknown,
  spot: Spot,
  hasGateway: boolean,
): Promise<AgentConfig | undefined> {
  const fields = checkMapping(legacyAgentSchema, raw, spot);
  if (!fields) return undefined;
  if (fields.name !== undefined) checkEntryName(fields.name, spot.at('name'), 'value');
  const kind = fields.kind ?? 'custom';
  return buildAgent(fields.name ?? 'agent', { ...fields, kind }, raw, spot, hasGateway);
}

/** One entry of the `agents` map: `kind` is required. */
export async function readAgent(
  name: string,
  raw: unknown,
  spot: Spot,
  hasGateway: boolean,
): Promise<AgentConfig | undefined> {
  checkEntryName(name, spot);
  const fields = checkMapping(agentSchema, raw, spot);
  if (!fields) return undefined;
  if (isMapping(raw) && !isGiven(raw, 'kind')) {
    const hint = `one of: ${agentKinds.join(', ')}`;
    spot.at('kind').error('is required', { hint });
  }
  return buildAgent(name, fields, raw, spot, hasGateway);
}

/** Names end up in rows, tables and selections. */
export function checkEntryName(name: string, spot: Spot, mark: 'key' | 'value' = 'key'): void {
  if (name.trim() === '') spot.error('the name must not be empty', { mark });
  else if (name !== name.trim()) spot.error('the name must not start or end with white space', { mark });
  else if (/\p{Cc}/u.test(name)) spot.error('the name must not contain a control character', { mark });
}

async function buildAgent(
  name: string,
  fields: Partial<RawAgent>,
  raw: unknown,
  spot: Spot,
  hasGateway: boolean,
): Promise<AgentConfig | undefined> {
  const command = fields.command == null ? undefined : toCommand(fields.command);
  const resumeCommand = fields.resume_command == null ? undefined : toCommand(fields.resume_command);
  const telemetry = readTelemetry(fields.telemetry);
  const available = { telemetry, hasGateway };
  if (command) checkCommand(command, spot.at('command'), available);
  if (resumeCommand) checkCommand(resumeCommand, spot.at('resume_command'), available);
  checkKindKeys(fields, raw, spot);
  const module = readModule(fields, spot);
  const promptTemplate = await readPromptTemplate(fields.prompt_template, spot);
  const timeoutSeconds = readTimeout(fields, spot);
  const env = readEnv(fields.env, spot);
  const { kind, profile } = fields;
  if (!kind) return undefined;
  const network = fields.network ?? undefined;
  const sideEffects = fields.side_effects ?? undefined;
  const base = { name, timeoutSeconds, env, ...present({ network, promptTemplate, sideEffects }) };
  const place = readPlaces(fields);
  if (kind === 'loop') {
    const loop = profile && { ...camelCased(loopOptions.parse(fields)), profile };
    return loop ? { ...base, kind, runner: 'loop', loop } : undefined;
  }
  if (command)
    return {
      ...{ ...base, kind, runner: 'command', command, telemetry, ...place },
      ...present({ resumeCommand, policy: fields.policy ?? undefined }),
    };
  if (module) return kind === 'custom' ? { ...base, kind, runner: 'module', module, ...place } : undefined;
  const driver = { inherit: [], ...camelCased(driverOptions.parse(fields)) };
  if (!isDrivenKind(kind) && !namesAgentOf(kind, fields.agent)) return undefined;
  const config = { ...base, kind, runner: 'driver' as const, driver };
  checkAgentOptions(config, spot);
  return config;
}

function readModule({ module, model }: Partial<RawAgent>, spot: Spot): ModuleOptions | undefined {
  if (module == null) return undefined;
  const at = spot.at('module');
  const file = existingPath(module, at, 'file');
  if (file === undefined) return undefined;
  if (!MODULE_EXTENSIONS.includes(extname(file))) {
    const hint = `one of: ${MODULE_EXTENSIONS.join(', ')}`;
    at.error(`is not a module that Node can import: ${file}`, { hint });
  }
  return { file, ...camelCased({ model }) };
}

function readTelemetry(raw: RawAgent['telemetry']): TelemetryConfig {
  const collector = raw?.collector ?? 'none';
  return {
    collector,
    file: raw?.file ?? (collector === 'codex-jsonl' ? 'codex-events.jsonl' : 'telemetry.json'),
    environmentVariable:
      raw?.environment_variable === undefined ? 'CONTEXT_EVAL_TELEMETRY_FILE' : raw.environment_variable,
  };
}

function readTimeout(fields: Partial<RawAgent>, spot: Spot): number {
  if (fields.timeout_minutes != null && fields.timeout_seconds != null) {
    const message = 'cannot be set together with timeout_minutes';
    spot.at('timeout_seconds').error(message, { hint: 'keep one of them', mark: 'key' });
  }
  if (fields.timeout_seconds != null) return fields.timeout_seconds;
  return fields.timeout_minutes == null ? DEFAULT_TIMEOUT_SECONDS : fields.timeout_minutes * 60;
}

/** Paths below the home may be written with `~/`. */
function readPlaces({ context }: Partial<RawAgent>): Pick<CommandAgentConfig, 'context'> {
  if (context == null) return {};
  const { instructions, skills, mcp_servers } = context;
  const belowHome = (path: string | null | undefined) => path?.replace(/^~\//, '');
  return {
    context: camelCased({ instructions, skills: belowHome(skills), mcp_servers: belowHome(mcp_servers) }),
  };
}

async function readPromptTemplate(value: string | null | undefined, spot: Spot): Promise<string | undefined> {
  if (value == null) return undefined;
  const at = spot.at('prompt_template');
  const source = await readNamedText(value, at);
  if (!source) return undefined;
  const path = at.shown();
  const { segments, problems } = parseTemplate(source.text);
  for (const problem of [...problems, ...unknownVariables(segments, PROMPT_VARIABLES)]) {
    const { offset, length, message, hint } = problem;
    at.add(diagnosticAt(source, { offset, length }, { path, message, severity: 'error', hint }));
  }
  const variant = segments.find((segment) => segment.kind === 'variable' && segment.name === 'variant');
  if (variant?.kind === 'variable') {
    const span = { offset: variant.offset, length: '{variant}'.length };
    const message =
      'the prompt contains the variant: each variant gets another prompt, and the agent can see which variant it runs with';
    const hint = 'remove {variant}';
    at.add(diagnosticAt(source, span, { path, severity: 'warning', message, hint }));
  }
  if (source.text.trim() === '') {
    const message = 'the prompt template is empty';
    at.add(unplaced(source.file, { path, message, severity: 'error' }));
  }
  return source.file;
}

/** `env` of the entry at `spot`. */
export function readEnv(raw: RawAgent['env'], spot: Spot): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw ?? {})) {
    const at = spot.at('env', name);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      at.error('is not a valid name for an environment variable', { mark: 'key', secret: true });
      continue;
    }
    const text = environmentText(value, at.written);
    if (text === undefined) {
      const hint = value === null ? 'write "" for an empty value' : undefined;
      at.error('expected text, a number or a boolean', { secret: true, hint });
      continue;
    }
    const problem = referenceProblem(text);
    if (problem !== undefined) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the config's own syntax
      at.error(problem, { secret: true, hint: 'write ${NAME} for a variable of your environment' });
    }
    env[name] = text;
  }
  return env;
}

/** Numbers and booleans as they are written: `007` stays `007`. */
function environmentText(value: unknown, written: () => string | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return written() ?? String(value);
  return undefined;
}

/** Reports what is wrong with a command template, including variables that have no value for this agent. */
function checkCommand(
  command: Command,
  spot: Spot,
  { telemetry, hasGateway }: { telemetry: TelemetryConfig; hasGateway: boolean },
): void {
  const known = COMMAND_VARIABLES.filter((name) => {
    if (name === 'telemetry_file') return telemetry.collector === 'json-file';
    return hasGateway || !name.startsWith('gateway_');
  });
  const needs: Record<string, string> = {
    '{telemetry_file}': 'only available with telemetry: {collector: json-file}',
    '{gateway_url}': 'only available with a gateway',
    '{gateway_key}': 'only available with a gateway',
  };
  const partAt = (index: number) => (command.kind === 'argv' ? spot.at(index) : spot);
  for (const { index, text, problem } of commandProblems(command, known)) {
    const marked = text.slice(problem.offset, problem.offset + problem.length);
    partAt(index).error(problem.message, {
      hint: needs[marked] ?? problem.hint,
      mark: marked === '' ? 'value' : { text: marked },
    });
  }
  for (const [index, text] of commandParts(command).entries()) {
    if (!namesVariable(text, 'variant')) continue;
    const message = 'the command contains the variant, so the agent can see which variant it runs with';
    partAt(index).warning(message, { mark: { text: '{variant}' } });
  }
}

const LOOP_KEYS = Object.keys(loopOptions.shape);
const DRIVER_KEYS = Object.keys(driverOptions.shape).filter((key) => key !== 'agent');

/** Reports keys that do not apply to the agent's kind, and keys that the kind requires. */
function checkKindKeys(fields: Partial<RawAgent>, raw: unknown, spot: Spot): void {
  const { kind } = fields;
  const given = (key: string) => isGiven(raw, key);
  const protocolAgents = kind == null ? undefined : protocolAgentsOf(kind);
  const isDriven = kind != null && (isDrivenKind(kind) || protocolAgents !== undefined) && !given('command');
  const refuse = (key: string, message: string, hint?: string) => {
    if (given(key)) spot.at(key).error(message, { hint, mark: 'key' });
  };
  const refuseCollector = (what: string) => {
    if ((fields.telemetry?.collector ?? 'none') === 'none') return;
    const message = `${what} reports its own events, so it does not need a collector`;
    spot.at('telemetry', 'collector').error(message, { hint: 'remove telemetry' });
  };

  if (!given('command')) {
    const hint = 'remove it, or add the command of the first turn';
    refuse('resume_command', 'only applies to agents with a command', hint);
  }
  if (fields.auth === 'login') {
    const hint = 'remove it, or write `auth: api-key`';
    refuse('api_key_env', 'does not apply to `auth: login`', hint);
    const named = isDriven ? (protocolAgents?.[fields.agent ?? ''] ?? nativeAgentOf(kind)) : undefined;
    const { login } = named?.facts ?? {};
    if (login && Object.keys(login.upstreams).length === 0) {
      refuse(
        'base_url',
        `does not apply to the login of ${kind}, whose program has an address of its own`,
        hint,
      );
    }
  }
  if (kind === 'loop' || isDriven) {
    const hint = 'remove it: Whetstone knows where this agent looks';
    refuse('context', 'only applies to agents with a command or a module', hint);
    refuseCollector(isDriven ? 'an agent that Whetstone drives' : 'kind: loop');
  }
  if (kind === 'loop') {
    for (const key of ['command', 'module']) {
      const message = `kind: loop runs in process and does not take a ${key}`;
      refuse(key, message, 'remove it, or choose another kind');
    }
    if (!given('profile')) {
      const hint = `one of: ${loopProfiles.join(', ')}`;
      spot.at('profile').error('is required for kind: loop', { hint });
    }
    return;
  }
  if (given('module')) {
    if (kind && kind !== 'custom') refuse('module', 'only applies to kind: custom', 'use kind: custom');
    refuse('command', 'an agent has either a command or a module, not both', 'keep one of them');
    refuseCollector('a module');
  } else if (kind && !given('command') && !isDriven) {
    spot.at('command').error('is required');
  }
  if (!kind) return;
  checkAgentName(fields, given('command'), spot);
  const forCommand = protocolAgents ? ['policy'] : [];
  const allowed: readonly string[] = isDriven ? DRIVER_KEYS : given('module') ? ['model'] : forCommand;
  const hint = given('command') ? 'name the model in the command itself' : undefined;
  for (const key of new Set([...LOOP_KEYS, ...DRIVER_KEYS])) {
    if (!allowed.includes(key)) refuse(key, `only applies to ${ownersOf(key)}`, hint);
  }
}

function ownersOf(key: string): string {
  const owners = [
    ...(LOOP_KEYS.includes(key) ? ['kind: loop'] : []),
    ...(DRIVER_KEYS.includes(key) ? ['agents that Whetstone drives itself'] : []),
  ];
  return owners.join(' and to ');
}
