import { resolve } from 'node:path';
import type { AgentConfig } from '@whetstone/agents/config';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import { checkContext } from './check-agent-abilities.ts';
import { checkMapping, isMapping } from './check-shape.ts';
import type { Config, VariantConfig } from './config.ts';
import { type DeclaredMetric, readMargin } from './declared-metric.ts';
import { ConfigErrors, type Diagnostic, inFileOrder } from './diagnostic.ts';
import { existingPath } from './existing-path.ts';
import { openSource } from './open-source.ts';
import { readAgent, readLegacyAgent } from './read-agent.ts';
import { readEnvironment } from './read-environment.ts';
import { readGateway } from './read-gateway.ts';
import { readSandbox } from './read-sandbox.ts';
import { readTaskFile } from './read-task-file.ts';
import { readVariant } from './read-variant.ts';
import { replacedTasks } from './replaced-tasks.ts';
import { rootSchema } from './schema.ts';
import { createSpot, diagnose, type FindingOptions, type Spot } from './spot.ts';
import type { YamlPath } from './yaml-source.ts';

export type LoadOptions = {
  /** Instead of the config's `tasks`; relative to `cwd`. */
  tasksFile?: string;
  /** Where relative command line paths, and an omitted `output_dir`, start. Default: the current directory. */
  cwd?: string;
  /** A YAML text in place of what the config file has. */
  draft?: string;
  /** Changes the keys of the config before they are checked. Places of findings are those of the file. */
  change?: (root: Record<string, unknown>) => Record<string, unknown>;
};

export type LoadedConfig = {
  config: Config;
  warnings: Diagnostic[];
  /** Where an agent is in the config: `agents.<name>`, or `agent` in the legacy shape. */
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
 * Reads a config and its task file, each in YAML, TypeScript or JavaScript. Paths are relative to the folder of the file that has them; an omitted `output_dir`
 * is `.whetstone/runs` in `cwd`. Starts no process and needs no Git repository.
 * @throws ConfigErrors with everything that is wrong in both files at once.
 */
export async function loadConfig(file: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const cwd = options.cwd ?? process.cwd();
  const configFile = resolve(cwd, file);
  const diagnostics: Diagnostic[] = [];
  const opened = await openSource(configFile, diagnostics, options.draft);
  const source =
    opened && isMapping(opened.value) && options.change
      ? { ...opened, value: options.change(opened.value) }
      : opened;
  if (!source || !isMapping(source.value)) {
    if (source && source.value !== undefined) {
      diagnostics.push(diagnose(source, 'error', [], 'the config must be a mapping of keys to values'));
    }
    throw new ConfigErrors(inFileOrder(diagnostics));
  }
  const spot = createSpot(source, diagnostics);
  const root = checkMapping(rootSchema, source.value, spot) ?? {};

  const repo = root.repo ? readRepo(root.repo, spot.at('repo')) : undefined;
  const gateway = root.gateway ? readGateway(root.gateway, spot.at('gateway')) : undefined;
  const agents = await readAgents(source.value, root.agents, spot);
  const variants = await readVariants(root.variants, spot.at('variants'));
  checkContext(agents, variants, spot);
  const sandbox = readSandbox(source.value.sandbox, spot.at('sandbox'));
  const environment = root.environment
    ? readEnvironment(root.environment, spot.at('environment'))
    : undefined;
  const evaluation = root.evaluation ?? { commands: [] };
  const baseline = readBaseline(root.baseline, variants, spot.at('baseline'));

  const equivalence = readEquivalence(root.equivalence, root.metric, spot.at('equivalence'));

  const tasksFile = locateTaskFile(root.tasks, source.value.tasks, options, spot.at('tasks'));
  const tasks = tasksFile && (await readTaskFile(tasksFile, { evaluation, agents }, diagnostics));

  const seed = root.seed == null ? undefined : readSeed(root.seed, spot.at('seed'));
  const own = resolve(spot.directory, root.tasks ?? 'tasks.yaml');
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
      root.output_dir == null ? resolve(cwd, '.whetstone/runs') : resolve(spot.directory, root.output_dir),
    sandbox,
    ...present({ seed, environment, gateway, equivalence, metric: root.metric ?? undefined }),
    ...(tasks.included.length > 0 && {
      alsoWithheld: [
        ...tasks.included.map((file) => ({ file, what: 'a task' })),
        ...tasks.journals.map((file) => ({ file, what: 'the journal of mining' })),
      ],
    }),
    ...(tasksFile !== own && { replacedTasks: await replacedTasks(own) }),
  };
  const legacy = Object.hasOwn(source.value, 'agent');
  return {
    config,
    warnings: inFileOrder(diagnostics),
    agentPath: (name) => (legacy ? ['agent'] : ['agents', name]),
    diagnose: (where, severity, path, message, findingOptions) => {
      const place = where === 'config' ? { yaml: source, path } : tasks.placeOf(path);
      return diagnose(place.yaml, severity, place.path, message, findingOptions);
    },
  };
}

/** `undefined` if `tasks` is wrong: the default file would only add a misleading second error. */
function locateTaskFile(named: string | null | undefined, raw: unknown, options: LoadOptions, spot: Spot) {
  if (options.tasksFile !== undefined) return resolve(options.cwd ?? process.cwd(), options.tasksFile);
  if (named == null && raw != null) return undefined;
  return existingPath(named ?? 'tasks.yaml', spot, 'file');
}

function readRepo(
  { path: named, base_ref: baseRef }: { path: string; base_ref?: string | null | undefined },
  spot: Spot,
): Config['repo'] | undefined {
  const path = existingPath(named, spot.at('path'), 'folder');
  return path === undefined ? undefined : { path, baseRef: baseRef ?? 'HEAD' };
}

async function readAgents(
  root: Record<string, unknown>,
  map: Record<string, unknown> | null | undefined,
  spot: Spot,
): Promise<AgentConfig[]> {
  const hasGateway = root.gateway != null;
  const legacy = Object.hasOwn(root, 'agent');
  if (legacy && Object.hasOwn(root, 'agents')) {
    const hint = 'move the one agent into agents, under its name';
    spot.at('agents').error('agent and agents cannot both be set', { hint, mark: 'key' });
  }
  if (legacy) {
    const agent = await readLegacyAgent(root.agent, spot.at('agent'), hasGateway);
    return agent ? [agent] : [];
  }
  if (!Object.hasOwn(root, 'agents')) {
    spot.error('either agent or agents is required', { hint: 'whetstone init writes an example' });
    return [];
  }
  const agents: AgentConfig[] = [];
  const names = spot.at('agents').keysOf(map ?? {});
  if (names.length === 0 && (map || root.agents === null))
    spot.at('agents').error('at least one agent is required');
  for (const name of names) {
    const agent = await readAgent(name, map?.[name], spot.at('agents', name), hasGateway);
    if (agent) agents.push(agent);
  }
  return agents;
}

async function readVariants(map: Record<string, unknown> | undefined, spot: Spot): Promise<VariantConfig[]> {
  if (!map) return [];
  const names = spot.keysOf(map);
  if (names.length === 0) spot.error('at least one variant is required');
  const variants: VariantConfig[] = [];
  for (const name of names) {
    const variant = await readVariant(name, map[name], spot.at(name));
    if (variant) variants.push(variant);
  }
  return variants;
}

function readBaseline(
  named: string | null | undefined,
  variants: readonly VariantConfig[],
  spot: Spot,
): string {
  const names = variants.map(({ name }) => name);
  if (named != null && names.length > 0 && !names.includes(named)) {
    const hint = suggestion(named, names, 'variants');
    spot.error(`there is no variant ${JSON.stringify(named)}`, { hint });
  }
  return named ?? names.find((name) => name === 'baseline') ?? names[0] ?? '';
}

function readEquivalence(
  text: string | null | undefined,
  metric: DeclaredMetric | null | undefined,
  spot: Spot,
): number | undefined {
  if (text == null) return undefined;
  const read = readMargin(text, metric ?? undefined);
  if ('margin' in read) return read.margin;
  spot.error(read.problem);
  return undefined;
}

/** A number as it is written, so that no digit of a long one is lost. */
function readSeed(seed: string | number, spot: Spot): string {
  return typeof seed === 'string' ? seed : (spot.written() ?? String(seed));
}
