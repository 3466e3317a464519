import { dirname, resolve } from 'node:path';
import type { AgentConfig } from '@whetstone/agents/config';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import { checkContext } from './check-agent-abilities.ts';
import { checkMapping, checkShape, isMapping, warnUnknownKeys } from './check-shape.ts';
import type { Config, SandboxProviderName, VariantConfig } from './config.ts';
import { ConfigErrors, type Diagnostic, inFileOrder } from './diagnostic.ts';
import { openYaml } from './open-yaml.ts';
import { type ReadAgentContext, readAgent, readLegacyAgent } from './read-agent.ts';
import { existingPath, type ReadContext } from './read-context.ts';
import { readGateway } from './read-gateway.ts';
import { locateTaskFile, readTaskFile } from './read-task-file.ts';
import { readVariant } from './read-variant.ts';
import { createReporter, diagnose, type FindingOptions, type Reporter } from './reporter.ts';
import { rootSchema, sandboxSchema } from './schema.ts';
import { keysInOrder, writtenScalar, type YamlPath } from './yaml-source.ts';

const SANDBOX_PROVIDERS: readonly SandboxProviderName[] = ['process'];

export type LoadOptions = {
  /** Instead of the config's `tasks`; relative to `cwd`. */
  tasksFile?: string;
  /** Where relative command line paths, and an omitted `output_dir`, start. Default: the current directory. */
  cwd?: string;
};

export type LoadedConfig = {
  config: Config;
  warnings: Diagnostic[];
  /** Where an agent stands in the config: `agents.<name>`, or `agent` in the legacy shape. */
  agentPath: (name: string) => YamlPath;
  /** A diagnostic at a place of the config or the task file, for checks that come after loading. */
  diagnose: (
    where: 'config' | 'tasks',
    severity: Diagnostic['severity'],
    path: YamlPath,
    message: string,
    options?: FindingOptions,
  ) => Diagnostic;
};

/**
 * Reads a config and its task file: everything that context-eval reads, with its defaults and path rules, and
 * Whetstone's additions. Paths are relative to the folder of the file they stand in; an omitted `output_dir` is
 * `.whetstone/runs` in `cwd`. Starts no process and needs no Git repository.
 *
 * @throws ConfigErrors with everything that is wrong in both files at once.
 */
export async function loadConfig(file: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const cwd = options.cwd ?? process.cwd();
  const configFile = resolve(cwd, file);
  const diagnostics: Diagnostic[] = [];
  const source = await openYaml(configFile, diagnostics);
  if (!source || !isMapping(source.value)) {
    if (source && source.value !== undefined) {
      diagnostics.push(diagnose(source, 'error', [], 'the config must be a mapping of keys to values'));
    }
    throw new ConfigErrors(inFileOrder(diagnostics));
  }
  const report = createReporter(source, diagnostics);
  const context: ReadContext = { directory: dirname(configFile), report };
  const root = checkMapping(rootSchema, source.value, [], report) ?? {};

  const repo = root.repo ? readRepo(root.repo, context) : undefined;
  const gateway = root.gateway ? readGateway(root.gateway, context) : undefined;
  const agents = await readAgents(source.value, root.agents, {
    ...context,
    hasGateway: source.value.gateway != null,
  });
  const variants = await readVariants(root.variants, context);
  checkContext(agents, variants, report);
  const sandbox = readSandbox(source.value.sandbox, report);
  const evaluation = root.evaluation ?? { commands: [] };
  const baseline = readBaseline(root.baseline, variants, report);

  const tasksFile = locateTaskFile(source.value, root.tasks, options, context.directory);
  const tasks = tasksFile && (await readTaskFile(tasksFile, { evaluation, agents }, context, diagnostics));

  const seed = root.seed == null ? undefined : readSeed(root.seed, report);
  const wrong = diagnostics.some(({ severity }) => severity === 'error');
  if (wrong || !repo || !tasks) throw new ConfigErrors(inFileOrder(diagnostics));
  const config: Config = {
    file: configFile,
    repo,
    agents,
    tasksFile: tasks.source.file,
    tasks: tasks.tasks,
    variants,
    baseline,
    evaluation,
    outputDir:
      root.output_dir == null ? resolve(cwd, '.whetstone/runs') : resolve(context.directory, root.output_dir),
    sandbox,
    ...present({ seed, gateway }),
  };
  const legacy = Object.hasOwn(source.value, 'agent');
  const sources = { config: source, tasks: tasks.source };
  return {
    config,
    warnings: inFileOrder(diagnostics),
    agentPath: (name) => (legacy ? ['agent'] : ['agents', name]),
    diagnose: (where, severity, path, message, findingOptions) =>
      diagnose(sources[where], severity, path, message, findingOptions),
  };
}

function readRepo(
  raw: { path: string; base_ref?: string | null | undefined },
  context: ReadContext,
): Config['repo'] | undefined {
  const path = existingPath(raw.path, ['repo', 'path'], context, 'folder');
  const baseRef = raw.base_ref ?? 'HEAD';
  return path === undefined ? undefined : { path, baseRef };
}

async function readAgents(
  root: Record<string, unknown>,
  map: Record<string, unknown> | null | undefined,
  context: ReadAgentContext,
): Promise<AgentConfig[]> {
  const { report } = context;
  const legacy = Object.hasOwn(root, 'agent');
  if (legacy && Object.hasOwn(root, 'agents')) {
    report.error(['agents'], 'agent and agents cannot both be set', {
      hint: 'move the one agent into agents, under its name',
      mark: 'key',
    });
  }
  if (legacy) {
    const agent = await readLegacyAgent(root.agent, context);
    return agent ? [agent] : [];
  }
  if (!Object.hasOwn(root, 'agents')) {
    report.error([], 'either agent or agents is required', { hint: 'whetstone init writes an example' });
    return [];
  }
  const agents: AgentConfig[] = [];
  const names = keysInOrder(report.yaml, ['agents'], map ?? {});
  if (names.length === 0 && (map || root.agents === null))
    report.error(['agents'], 'at least one agent is required');
  for (const name of names) {
    const agent = await readAgent(name, map?.[name], context);
    if (agent) agents.push(agent);
  }
  return agents;
}

async function readVariants(
  map: Record<string, unknown> | undefined,
  context: ReadContext,
): Promise<VariantConfig[]> {
  if (!map) return [];
  const names = keysInOrder(context.report.yaml, ['variants'], map);
  if (names.length === 0) context.report.error(['variants'], 'at least one variant is required');
  const variants: VariantConfig[] = [];
  for (const name of names) {
    const variant = await readVariant(name, map[name], context);
    if (variant) variants.push(variant);
  }
  return variants;
}

function readBaseline(
  named: string | null | undefined,
  variants: readonly VariantConfig[],
  report: Reporter,
): string {
  const names = variants.map(({ name }) => name);
  if (named != null && names.length > 0 && !names.includes(named)) {
    report.error(['baseline'], `there is no variant ${JSON.stringify(named)}`, {
      hint: suggestion(named, names, 'variants'),
    });
  }
  return named ?? names.find((name) => name === 'baseline') ?? names[0] ?? '';
}

function readSandbox(raw: unknown, report: Reporter): Config['sandbox'] {
  const short = typeof raw === 'string';
  if (raw === undefined || raw === null) return { provider: 'process' };
  if (!short) warnUnknownKeys(sandboxSchema, raw, ['sandbox'], report);
  const wanted = short ? raw : checkShape(sandboxSchema, raw, ['sandbox'], report)?.provider;
  const provider = SANDBOX_PROVIDERS.find((name) => name === wanted);
  if (wanted !== undefined && !provider) {
    const path = short ? ['sandbox'] : ['sandbox', 'provider'];
    const hint = suggestion(wanted, SANDBOX_PROVIDERS, 'sandboxes');
    report.error(path, `there is no sandbox ${JSON.stringify(wanted)}`, { hint });
  }
  return { provider: provider ?? 'process' };
}

/** A number as it is written, so that no digit of a long one is lost. */
function readSeed(seed: string | number, report: Reporter): string {
  return typeof seed === 'string' ? seed : (writtenScalar(report.yaml, ['seed']) ?? String(seed));
}
