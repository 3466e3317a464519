import { join } from 'node:path';
import type { Agent } from '@whetstone/agents';
import { type AgentConfig, toAgentConfig } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import type { Config, JudgeConfig, StatedJudge, TaskConfig, VariantConfig } from '../config/config.ts';
import { readMargin } from '../config/declared-metric.ts';
import { type ExperimentFileContent, loadExperimentFile, type Project } from '../config/load-project.ts';
import { sandboxNamed } from '../config/read-sandbox.ts';
import type { ExperimentDefinition } from './define.ts';
import type { ExperimentFile } from './find-evals.ts';
import type { Fixture } from './fixture.ts';
import { isJudgeOf } from './judge/judge-of-agent.ts';
import type { EvalDescription } from './protocol.ts';

/** An experiment as it was loaded. */
export type Experiment = ExperimentFile &
  Omit<ExperimentFileContent, 'value'> & { definition: ExperimentDefinition };

/** A fixture, and the commit that has its visible files. */
export type StoredFixture = { fixture: Fixture; commit: string };

/** What the command line says in place of what an experiment says. */
export type ExperimentOverrides = {
  agent?: string;
  model?: string;
  runs?: number;
  timeoutMs?: number;
  budget?: number;
  sandbox?: string;
  earlyExit?: boolean;
};

/** Loads an experiment, with the code that it has, into this process. */
export async function loadExperiment(found: ExperimentFile): Promise<Experiment> {
  const { value, ...rest } = await loadExperimentFile(found.file);
  const { agent } = value;
  if (typeof agent !== 'object' || agent === null) {
    throw new WhetstoneError(
      'experiment-invalid',
      'The default export is not an experiment: it has no agent.',
      {
        where: found.file,
        hint: 'Write `export default defineExperiment({ agent, … })`, with defineExperiment from whetstone.',
      },
    );
  }
  return { ...found, ...rest, definition: value as ExperimentDefinition };
}

/** The evals of an experiment, in the order in which they were found. */
export function evalsOf({ definition }: Experiment, evals: readonly EvalDescription[]): EvalDescription[] {
  const { evals: wanted } = definition;
  if (wanted === undefined) return [...evals];
  if (typeof wanted === 'function') return evals.filter(({ id }) => wanted(id));
  return selectIds(evals, typeof wanted === 'string' ? [wanted] : wanted);
}

/**
 * The evals whose id is one of these, or begins with one and a slash.
 * @throws WhetstoneError `selection-unknown` for one that fits none
 */
export function selectIds<One extends { id: string }>(
  all: readonly One[],
  wanted: readonly string[],
  what = 'evals',
  /** What a name that fits nothing can have meant. */
  known: readonly { id: string }[] = all,
): One[] {
  const isMeant = (id: string, name: string) => id === name || id.startsWith(`${name.replace(/\/$/, '')}/`);
  for (const name of wanted) {
    if (all.some(({ id }) => isMeant(id, name))) continue;
    const hint = suggestion(
      name,
      known.map(({ id }) => id),
      what,
    );
    throw new WhetstoneError('selection-unknown', `There is no ${what.replaceAll(/s\b/g, '')} ${name}.`, {
      hint,
    });
  }
  return all.filter(({ id }) => wanted.some((name) => isMeant(id, name)));
}

const ONE_HOUR_MS = 3_600_000;

/** An experiment as the configuration of a run: each eval is a task. `repo`: for agents that work on files. */
export function planExperiment(
  experiment: Experiment,
  evals: readonly EvalDescription[],
  {
    project,
    repo,
    overrides = {},
    fixtures,
  }: {
    project: Project;
    repo: Config['repo'];
    overrides?: ExperimentOverrides;
    /** By folder, with the commit of the visible files. */
    fixtures: ReadonlyMap<string, StoredFixture>;
  },
): Config {
  const { file, definition, sandbox, judge: own } = experiment;
  const metric = definition.metric ?? undefined;
  const earlyExit = overrides.earlyExit ?? definition.earlyExit ?? false;
  if (earlyExit && metric !== undefined && metric !== 'pass_rate') {
    throw new WhetstoneError(
      'experiment-invalid',
      `Early exit does not run attempts after a pass, so that there would be no comparison by ${metric}.`,
      { where: file, hint: `Leave out early exit, or \`metric: '${metric}'\`.` },
    );
  }
  const equivalence = marginOf(definition, file);
  const timeoutMs = overrides.timeoutMs ?? definition.timeoutMs ?? ONE_HOUR_MS;
  const arms = armsOf(experiment);
  const budget = overrides.budget ?? definition.budget;
  const { gateway } = project;
  if (budget !== undefined && !gateway) {
    throw new WhetstoneError('experiment-invalid', 'A budget needs a gateway, which counts the cost.', {
      where: file,
      hint: 'Set `gateway` in whetstone.config.ts, or leave the budget out.',
    });
  }
  const agent = agentConfig(definition, { file, overrides, timeoutMs });
  const stated = own ?? project.judge;
  const judge = stated && toJudge(stated);
  if (judge) requireOther(judge, agent);
  return {
    file,
    repo,
    agents: [agent],
    tasksFile: file,
    alsoWithheld: [
      { file: join(project.root, 'evals'), what: 'the evals' },
      { file: join(project.root, 'experiments'), what: 'the experiments' },
      ...(project.file === undefined ? [] : [{ file: project.file, what: 'the configuration' }]),
    ],
    tasks: evals.map((one) => toTask(one, project, overrides.timeoutMs, fixtures.get(one.fixture ?? ''))),
    variants: arms,
    baseline: arms.find(({ name }) => name === 'baseline')?.name ?? arms[0]?.name ?? '',
    evaluation: { commands: [] },
    outputDir: project.outputDir,
    sandbox:
      overrides.sandbox === undefined
        ? (sandbox ?? project.sandbox ?? { provider: 'auto' })
        : sandboxNamed(overrides.sandbox, sandbox ?? project.sandbox),
    ...present({ seed: project.seed, environment: project.environment, judge, metric, equivalence }),
    ...(earlyExit && { earlyExit }),
    ...(gateway && {
      gateway:
        budget === undefined ? gateway : { ...gateway, runBudget: { ...gateway.runBudget, costUsd: budget } },
    }),
  };
}

function marginOf({ equivalence, metric }: ExperimentDefinition, file: string): number | undefined {
  if (equivalence == null) return undefined;
  const read = readMargin(equivalence, metric ?? undefined);
  if ('margin' in read) return read.margin;
  throw new WhetstoneError('experiment-invalid', `\`equivalence\` ${read.problem}.`, { where: file });
}

/** The arms of an experiment, with the flags of the experiment. */
export function armsOf({ definition: { flags }, variants }: Experiment): VariantConfig[] {
  const arms = variants.length > 0 ? variants : [{ name: 'baseline', description: '', overlays: [] }];
  return arms.map((arm: VariantConfig) => ({
    ...arm,
    ...((flags || arm.flags) && { flags: { ...flags, ...arm.flags } }),
  }));
}

function agentConfig(
  { agent, model: stated }: ExperimentDefinition,
  { file, overrides, timeoutMs }: { file: string; overrides: ExperimentOverrides; timeoutMs: number },
): AgentConfig {
  const model = overrides.model ?? stated;
  const limit = { timeoutSeconds: timeoutMs / 1000 };
  if (overrides.agent !== undefined) return { ...agentOfKind(overrides.agent, model), ...limit };
  return { ...toConfig(agent, file, model), ...limit };
}

/** An agent that was defined in code in this file, or one of these options. */
function toConfig(agent: object, file: string, model?: string): AgentConfig {
  if (!isAgent(agent)) return toAgentConfig({ ...agent, ...present({ model }) } as never);
  return {
    ...{ name: agent.name, kind: 'custom', runner: 'module', env: {}, timeoutSeconds: 3600 },
    module: { file, adapter: agent, ...present({ model }) },
  };
}

const isAgent = (agent: object): agent is Agent => 'send' in agent && typeof agent.send === 'function';

/** The judge as a run needs it. */
export function toJudge({ agent, ...judge }: StatedJudge): JudgeConfig {
  return { ...judge, ...(agent && { agent: toConfig(agent, judge.file) }) };
}

/** Before anything runs, as far as it is stated. What models answer is compared when there is something to judge. */
function requireOther(judge: JudgeConfig, agent: AgentConfig): void {
  if (judge.sameAsAgent || !isJudgeOf(judge, agent)) return;
  throw new WhetstoneError('experiment-invalid', 'The judge is the model or the agent that it would judge.', {
    where: judge.file,
    hint: 'Choose another judge, or set `same_as_agent: true` in `judge`.',
  });
}

/**
 * `--agent codex-cli`: an agent that needs no more than its kind and a model.
 * @throws WhetstoneError `agent-kind-unknown`
 */
export function agentOfKind(kind: string, model: string | undefined): AgentConfig {
  const profile = kind === 'loop' ? { profile: 'openai' } : {};
  return toAgentConfig({ kind, ...profile, ...present({ model }) } as never);
}

/** An eval as a task. A folder with a PROMPT.md has no `eval`. */
export function toTask(
  { id, file, key, description, requires, timeoutMs, tags }: EvalDescription,
  { root, environment }: Pick<Project, 'root' | 'environment'>,
  override: number | undefined,
  stored: StoredFixture | undefined,
): TaskConfig {
  const limit = override ?? timeoutMs;
  const { fixture, commit } = stored ?? {};
  // A folder with a PROMPT.md has no code: its hidden tests are the whole verdict.
  const isFolder = fixture?.prompt !== undefined && file === fixture.visible.root;
  return {
    id,
    prompt: isFolder ? (fixture.prompt ?? '') : '',
    // What the environment installed must not be installed again in each case.
    setup: environment && environment.prepare.length > 0 ? [] : (fixture?.setup ?? []),
    validation: { commands: isFolder ? [fixture.tests] : [] },
    protectedPaths: [],
    ...(!isFolder && { eval: { file, root, key, requires, ...present({ tests: fixture?.tests }) } }),
    extra: tags.length > 0 ? { tags } : {},
    ...(isFolder && { o11yContext: true }),
    ...present({ title: description, repoRef: commit, hiddenTests: fixture?.hiddenTests }),
    ...(limit !== undefined && { timeoutSeconds: limit / 1000 }),
  };
}

/**
 * Where hidden tests are kept, by content. Not in the repository of the trees: what a repository withholds is part of the
 * identity of its cases, and would then depend on which evals are selected.
 */
export const hiddenStoreOf = ({ root }: Pick<Project, 'root'>): string =>
  join(root, '.whetstone/hidden-tests');

/** Where trees are kept that are in no repository of the user. */
export const treeStoreOf = ({ root }: Pick<Project, 'root'>): string => join(root, '.whetstone/trees');
