import { extname } from 'node:path';
import {
  type AgentConfig,
  type CommandAgentConfig,
  driverOptions,
  isDrivenKind,
  loopOptions,
  type ModuleOptions,
  parseTemplate,
  type TelemetryConfig,
  toCommand,
  unknownVariables,
} from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { camelCased } from './camel-cased.ts';
import { checkKindKeys } from './check-agent-keys.ts';
import { checkCommand } from './check-command.ts';
import { checkMapping, isGiven, isMapping } from './check-shape.ts';
import { referenceProblem } from './environment-reference.ts';
import { existingPath, type ReadContext, readNamedText } from './read-context.ts';
import { PROMPT_VARIABLES } from './render-prompt.ts';
import { displayPath, type Reporter } from './reporter.ts';
import { agentSchema, legacyAgentSchema, type RawAgent } from './schema.ts';
import { diagnosticAt, unplaced } from './source-text.ts';
import { writtenScalar, type YamlPath } from './yaml-source.ts';

const DEFAULT_TIMEOUT_SECONDS = 3600;
const MODULE_EXTENSIONS = ['.ts', '.mts', '.js', '.mjs'];

export type ReadAgentContext = ReadContext & { hasGateway: boolean };

/** The legacy shape: one agent that carries its name; `kind` is `custom` where it does not say. */
export async function readLegacyAgent(
  raw: unknown,
  context: ReadAgentContext,
): Promise<AgentConfig | undefined> {
  const path = ['agent'];
  const fields = checkMapping(legacyAgentSchema, raw, path, context.report);
  if (!fields) return undefined;
  if (fields.name !== undefined) checkEntryName(fields.name, [...path, 'name'], context.report, 'value');
  return buildAgent(fields.name ?? 'agent', { ...fields, kind: fields.kind ?? 'custom' }, raw, path, context);
}

/** One entry of the `agents` map: `kind` is required. */
export async function readAgent(
  name: string,
  raw: unknown,
  context: ReadAgentContext,
): Promise<AgentConfig | undefined> {
  const path = ['agents', name];
  checkEntryName(name, path, context.report);
  const fields = checkMapping(agentSchema, raw, path, context.report);
  if (!fields) return undefined;
  if (isMapping(raw) && !isGiven(raw, 'kind')) {
    const hint = `one of: ${agentSchema.shape.kind.unwrap().unwrap().options.join(', ')}`;
    context.report.error([...path, 'kind'], 'is required', { hint });
  }
  return buildAgent(name, fields, raw, path, context);
}

/** Names end up in rows, tables and selections. */
export function checkEntryName(
  name: string,
  path: YamlPath,
  report: Reporter,
  mark: 'key' | 'value' = 'key',
): void {
  if (name.trim() === '') report.error(path, 'the name must not be empty', { mark });
  else if (name !== name.trim())
    report.error(path, 'the name must not start or end with white space', { mark });
  else if (/\p{Cc}/u.test(name))
    report.error(path, 'the name must not contain a control character', { mark });
}

async function buildAgent(
  name: string,
  fields: Partial<RawAgent>,
  raw: unknown,
  path: YamlPath,
  context: ReadAgentContext,
): Promise<AgentConfig | undefined> {
  const { report } = context;
  const command = fields.command == null ? undefined : toCommand(fields.command);
  const resumeCommand = fields.resume_command == null ? undefined : toCommand(fields.resume_command);
  const telemetry = readTelemetry(fields.telemetry);
  const checks = { telemetry, hasGateway: context.hasGateway, report };
  if (command) checkCommand(command, [...path, 'command'], checks);
  if (resumeCommand) checkCommand(resumeCommand, [...path, 'resume_command'], checks);
  checkKindKeys(fields, raw, path, report);
  const module = readModule(fields, path, context);
  const promptTemplate = await readPromptTemplate(fields.prompt_template, path, context);
  const timeoutSeconds = readTimeout(fields, path, report);
  const env = readEnv(fields.env, path, report);
  const { kind, profile } = fields;
  if (!kind) return undefined;
  const network = fields.network ?? 'disabled';
  const base = { name, timeoutSeconds, network, env, ...present({ promptTemplate }) };
  const place = readPlaces(fields);
  if (kind === 'loop') {
    const loop = profile && { ...camelCased(loopOptions.parse(fields)), profile };
    return loop ? { ...base, kind, runner: 'loop', loop } : undefined;
  }
  if (command)
    return { ...base, kind, runner: 'command', command, ...present({ resumeCommand }), telemetry, ...place };
  if (module) return kind === 'custom' ? { ...base, kind, runner: 'module', module, ...place } : undefined;
  const driver = { inherit: [], ...camelCased(driverOptions.parse(fields)) };
  return isDrivenKind(kind) ? { ...base, kind, runner: 'driver', driver } : undefined;
}

function readModule(
  { module, model }: Partial<RawAgent>,
  path: YamlPath,
  context: ReadAgentContext,
): ModuleOptions | undefined {
  if (module == null) return undefined;
  const at = [...path, 'module'];
  const file = existingPath(module, at, context, 'file');
  if (file === undefined) return undefined;
  if (!MODULE_EXTENSIONS.includes(extname(file))) {
    context.report.error(at, `is not a module that Node can import: ${file}`, {
      hint: `one of: ${MODULE_EXTENSIONS.join(', ')}`,
    });
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

function readTimeout(fields: Partial<RawAgent>, path: YamlPath, report: Reporter): number {
  if (fields.timeout_minutes != null && fields.timeout_seconds != null) {
    report.error([...path, 'timeout_seconds'], 'cannot be set together with timeout_minutes', {
      hint: 'keep one of them',
      mark: 'key',
    });
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

async function readPromptTemplate(
  value: string | null | undefined,
  path: YamlPath,
  context: ReadAgentContext,
): Promise<string | undefined> {
  if (value == null) return undefined;
  const { report } = context;
  const at = [...path, 'prompt_template'];
  const source = await readNamedText(value, at, context);
  if (!source) return undefined;
  const shown = displayPath(report.yaml.value, at);
  const { segments, problems } = parseTemplate(source.text);
  for (const problem of [...problems, ...unknownVariables(segments, PROMPT_VARIABLES)]) {
    const { offset, length, message, hint } = problem;
    report.add(diagnosticAt(source, { offset, length }, { path: shown, message, severity: 'error', hint }));
  }
  const variant = segments.find((segment) => segment.kind === 'variable' && segment.name === 'variant');
  if (variant?.kind === 'variable') {
    const span = { offset: variant.offset, length: '{variant}'.length };
    const message =
      'the prompt contains the variant: each variant gets another prompt, and the agent can see which variant it runs with';
    const hint = 'remove {variant}';
    report.add(diagnosticAt(source, span, { path: shown, severity: 'warning', message, hint }));
  }
  if (source.text.trim() === '') {
    const message = 'the prompt template is empty';
    report.add(unplaced(source.file, { path: shown, message, severity: 'error' }));
  }
  return source.file;
}

/** `env` of the entry at `path`. */
export function readEnv(raw: RawAgent['env'], path: YamlPath, report: Reporter): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw ?? {})) {
    const at = [...path, 'env', name];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      report.error(at, 'is not a valid name for an environment variable', { mark: 'key', secret: true });
      continue;
    }
    const text = environmentText(value, () => writtenScalar(report.yaml, at));
    if (text === undefined) {
      const hint = value === null ? 'write "" for an empty value' : undefined;
      report.error(at, 'expected text, a number or a boolean', { secret: true, hint });
      continue;
    }
    const problem = referenceProblem(text);
    if (problem !== undefined) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the config's own syntax
      report.error(at, problem, { secret: true, hint: 'write ${NAME} for a variable of your environment' });
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
