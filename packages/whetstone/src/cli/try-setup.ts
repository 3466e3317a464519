import { join, relative } from 'node:path';
import { toAgentConfig } from '@whetstone/agents/config';
import type { AgentHere } from '@whetstone/agents/install';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { GatewayConfig } from '../config/config.ts';
import { withDotEnv } from '../config/dot-env.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { agentOfKind } from '../eval/plan-experiment.ts';
import { lookAround } from '../init/surroundings.ts';
import { counted } from '../report/format.ts';
import { startProblems } from '../run/start-problems.ts';
import { type Arms, makeArms } from '../try/arms.ts';
import { agentKeys, whyNot, writeSetup } from '../try/setup-files.ts';
import { type Committed, readSubject, type Subject } from '../try/subject.ts';
import { previewInstructions } from '../workspace/preview-instructions.ts';
import { openRepository, type Repository, resolveCommit } from '../workspace/repository.ts';
import { describeAgent } from './describe-agent.ts';
import { findConfig, openConfig } from './find-config.ts';
import { ignore, ignoreRuns } from './ignore-runs.ts';
import type { Streams } from './streams.ts';
import { preparationOf } from './tasks-mine.ts';
import type { TryOptions } from './try-options.ts';
import { findTasks, OUR_FOLDER } from './try-tasks.ts';

/** Everything that a plan is made from. */
export type Trying = {
  question: string;
  repository: string;
  committed: Committed;
  agents: {
    chosen: { name: string; note: string }[];
    /** Those that are on this machine, and why they are not used. */
    others: { name: string; note: string }[];
  };
  /** Where the tasks come from, in lines. */
  tasks: string[];
  /** Absent: there are no tasks yet, and a dry run mines none. */
  loaded?: LoadedConfig;
  /** The configuration that was written, relative to the current folder. Absent: the user has one. */
  written?: string;
};

/** Finds or makes what a comparison needs. `undefined`: a person stopped it. */
export async function openTry(
  given: string,
  options: TryOptions,
  streams: Streams,
): Promise<Trying | undefined> {
  const config = configOf(options, process.cwd());
  return config === undefined
    ? await withoutConfig(given, options, streams)
    : await withConfig(given, { ...options, config });
}

function configOf({ config }: TryOptions, cwd: string): string | undefined {
  if (config !== undefined) return config;
  try {
    return findConfig(undefined, cwd).file;
  } catch (error) {
    if (error instanceof WhetstoneError && error.code === 'config-not-found') return undefined;
    throw error;
  }
}

/** Copies go below `.whetstone`, which no agent ever sees and no commit gets. */
async function armsFor(subject: Subject, { workTree, gitDir }: Repository, ref: string) {
  const commit = await resolveCommit(workTree, ref);
  const ours = join(workTree, OUR_FOLDER);
  await ignoreRuns(workTree);
  await ignore(ours, '*\n');
  const folder = join(ours, subject.name.replaceAll(/[^\w.-]+/g, '-'));
  const arms = await makeArms(subject, { gitDir, commit, ref }, folder);
  return { arms, folder, commit };
}

/** The user's configuration with these arms in place of its variants. */
async function withConfig(given: string, options: TryOptions & { config: string }): Promise<Trying> {
  const { agent: wanted, model, budget, agentCommand, prepare } = options;
  if (agentCommand !== undefined || prepare.length > 0) {
    throw misfit(
      'There is a config, so --agent-command and --prepare are not used.',
      `Put them into ${options.config}.`,
    );
  }
  const { loaded: own, environment } = await openConfig(options);
  Object.assign(process.env, environment);
  const repository = await openRepository(own.config.repo.path);
  const subject = await readSubject(given, process.cwd(), repository);
  const { arms } = await armsFor(subject, repository, own.config.repo.baseRef);
  if (budget !== undefined && !own.config.gateway) {
    throw misfit('--budget needs a gateway, which counts the cost.', `Set \`gateway\` in ${options.config}.`);
  }
  const loaded = await loadConfig(own.config.file, {
    change: (root) => changed(root, { arms, wanted, ...present({ model, budget }) }),
  });
  const names = wanted.length > 0 ? wanted : loaded.config.agents.map(({ name }) => name);
  const ofConfig = loaded.config.agents.filter(({ name }) => !names.includes(name));
  return {
    ...{ question: arms.question, committed: arms.committed, repository: own.config.repo.path, loaded },
    agents: {
      chosen: names.map((name) => ({ name, note: '' })),
      others: ofConfig.map(({ name }) => ({ name, note: '--agent names others' })),
    },
    tasks: [`${counted(loaded.config.tasks.length, 'task')} of ${loaded.config.tasksFile}`],
  };
}

const misfit = (message: string, hint: string): WhetstoneError =>
  new WhetstoneError('try-option-invalid', message, { hint });

type Changes = { arms: Arms; wanted: readonly string[]; model?: string; budget?: number };

function changed(root: Record<string, unknown>, { arms, wanted, model, budget }: Changes) {
  const { baseline, variants } = arms;
  const gateway = root.gateway as { run_budget?: object } | null | undefined;
  const withModel = (name: string, agent: unknown) =>
    wanted.length > 0 && !wanted.includes(name) ? agent : { ...(agent as object), model };
  const agents = Object.entries((root.agents ?? {}) as Record<string, unknown>);
  return {
    ...{ ...root, baseline, variants },
    ...(budget !== undefined && {
      gateway: { ...gateway, run_budget: { ...gateway?.run_budget, usd: budget } },
    }),
    ...(model !== undefined &&
      agents.length > 0 && {
        agents: Object.fromEntries(agents.map(([name, agent]) => [name, withModel(name, agent)])),
      }),
  };
}

/** Writes a configuration for the agents of this machine and for tasks that are there or that are mined now. */
async function withoutConfig(
  given: string,
  options: TryOptions,
  { stderr }: Streams,
): Promise<Trying | undefined> {
  const repository = await openRepository(process.cwd());
  const { workTree } = repository;
  const subject = await readSubject(given, process.cwd(), repository);
  Object.assign(process.env, await withDotEnv(workTree, process.env));
  const { agents: here } = await lookAround(workTree, process.env);
  const hasGateway = options.agentCommand === undefined || options.agentCommand.includes('{gateway_url}');
  if (options.budget !== undefined && !hasGateway) {
    throw misfit('--budget needs a gateway.', 'Let the command use {gateway_url}.');
  }
  const { keys, others } = await agentsFor(subject, here, options);
  const prepare = preparationOf({ prepare: options.prepare, setup: [] }, workTree);
  const tasks = await findTasks(workTree, options, stderr);
  if (!tasks) return undefined;
  const { arms, folder, commit } = await armsFor(subject, repository, 'HEAD');
  const base = { question: arms.question, committed: arms.committed, repository: workTree };
  const names = Object.keys(keys);
  const chosenFrom = options.agent.length > 0 ? options.agent : names;
  if (tasks.folder === undefined) {
    const chosen = chosenFrom.map((name) => ({ name, note: '' }));
    return { ...base, agents: { chosen, others }, tasks: tasks.lines };
  }
  const files = await writeSetup(folder, {
    ...{ repository: workTree, agents: keys, arms, prepare, hasGateway, tasks: tasks.folder },
    ...present({ budget: options.budget }),
  });
  const loaded = await loadConfig(files.config);
  const { config } = loaded;
  // What an agent reads also depends on links and imports of the tree.
  const previews = await previewInstructions({
    ...{ config, withheld: [], commits: [commit], agents: config.agents },
    variants: config.variants.filter(({ name }) => name === arms.variant),
  });
  const blind = (name: string) => {
    const preview = previews.find(({ agent }) => agent === name);
    return subject.path !== undefined && subject.kind === 'instructions' && preview !== undefined
      ? !preview.reads.includes(subject.path)
      : false;
  };
  const able = names.filter((name) => !blind(name));
  const chosen = options.agent.length > 0 ? options.agent : able.slice(0, 1);
  if (chosen.length === 0)
    throw noAgent(subject, [...others, ...names.map((name) => ({ name, note: 'does not read it' }))]);
  const noteOf = (name: string) => {
    const found = here.find(({ kind }) => kind === name);
    return found ? `: ${describeAgent(found)}` : '';
  };
  const unused = names
    .filter((name) => !chosen.includes(name))
    .map((name) => ({
      name,
      note: blind(name) ? `does not read ${subject.name}` : `--agent ${name} adds it`,
    }));
  return {
    ...{ ...base, loaded, tasks: tasks.lines },
    written: relative(process.cwd(), files.config),
    agents: {
      chosen: chosen.map((name) => ({ name, note: noteOf(name) })),
      others: [...unused, ...others],
    },
  };
}

/** As the configuration will have it. */
const FORWARDS: GatewayConfig = {
  ...{ mode: 'forward', upstreams: [], faults: [], providerTools: false, allowUnmetered: false },
};

/** The agents that can be in the configuration, and why the others of this machine cannot. */
async function agentsFor(subject: Subject, here: readonly AgentHere[], options: TryOptions) {
  const { agent: wanted, model, agentCommand } = options;
  if (agentCommand !== undefined) {
    const keys: Record<string, Record<string, unknown>> = {
      'my-agent': { kind: 'custom', command: agentCommand },
    };
    return { keys, others: [] };
  }
  const others: { name: string; note: string }[] = [];
  const keys: Record<string, Record<string, unknown>> = {};
  for (const one of here) {
    const why = wanted.includes(one.kind) ? undefined : whyNot(one, subject, model);
    if (why === undefined) keys[one.kind] = agentKeys(one, model);
    else others.push({ name: one.kind, note: why });
  }
  for (const name of wanted) {
    agentOfKind(name, model);
    keys[name] ??= { kind: name, ...(name === 'loop' && { profile: 'openai' }), ...present({ model }) };
  }
  // What is missing is better said before minutes of mining.
  const named = wanted.map((kind) => toAgentConfig(keys[kind] as never));
  const [problem] = await startProblems({ gateway: FORWARDS }, named, process.env);
  if (problem) throw problem.error;
  if (Object.keys(keys).length === 0) throw noAgent(subject, others);
  return { keys, others };
}

function noAgent(subject: Subject, others: readonly { name: string; note: string }[]): WhetstoneError {
  const found = others.map(({ name, note }) => `${name} ${note}`).join('; ');
  return new WhetstoneError(
    'try-agent-missing',
    `No agent of this machine can try ${subject.name}${found === '' ? '' : `: ${found}`}.`,
    {
      hint: 'Install one with `whetstone agents install`, set its key or sign in, or name a command with --agent-command.',
    },
  );
}
