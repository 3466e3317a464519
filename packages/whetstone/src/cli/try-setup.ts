import { join, relative } from 'node:path';
import { usesLogin } from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { withDotEnv } from '../config/dot-env.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { lookAround } from '../init/surroundings.ts';
import { counted } from '../report/format.ts';
import { needsScripts } from '../tasks/mining-journal.ts';
import { type Arms, makeArms } from '../try/arms.ts';
import { writeSetup } from '../try/setup-files.ts';
import { type Committed, readSubject, type Subject } from '../try/subject.ts';
import { openRepository, type Repository, resolveCommit } from '../workspace/repository.ts';
import { findConfig, openConfig } from './find-config.ts';
import { ignore, ignoreRuns } from './ignore-runs.ts';
import type { Streams } from './streams.ts';
import { environmentKeys, installOf } from './tasks-environment.ts';
import { agentsFor, type ChosenAgents, chooseAgents } from './try-agents.ts';
import type { TryOptions } from './try-options.ts';
import { findTasks, OUR_FOLDER } from './try-tasks.ts';

/** Everything that a plan is made from. */
export type Trying = {
  question: string;
  repository: string;
  committed: Committed;
  agents: ChosenAgents;
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
  const trying =
    config === undefined
      ? await withoutConfig(given, options, streams)
      : await withConfig(given, { ...options, config });
  const chosen = new Set(trying?.agents.chosen.map(({ name }) => name));
  const bySubscription = trying?.loaded?.config.agents.find((one) => chosen.has(one.name) && usesLogin(one));
  if (options.budget !== undefined && bySubscription) {
    throw misfit(
      `--budget is in US dollars, and ${bySubscription.name} uses a login, whose calls have no price.`,
      'Use a key, or bound the run with --trials and --max-tasks.',
    );
  }
  return trying;
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
    wanted.length > 0 && name !== '' && !wanted.includes(name) ? agent : { ...(agent as object), model };
  const agents = Object.entries((root.agents ?? {}) as Record<string, unknown>);
  return {
    ...{ ...root, baseline, variants },
    ...(budget !== undefined && {
      gateway: { ...gateway, run_budget: { ...gateway?.run_budget, usd: budget } },
    }),
    ...(model !== undefined && root.agent != null && { agent: withModel('', root.agent) }),
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
  const tasks = await findTasks(workTree, options, stderr);
  if (!tasks) return undefined;
  const { arms, folder, commit } = await armsFor(subject, repository, 'HEAD');
  const base = { question: arms.question, committed: arms.committed, repository: workTree };
  if (tasks.folder === undefined) {
    const able = options.agent.length > 0 ? options.agent : Object.keys(keys);
    const chosen = able.map((name) => ({ name, note: ' (can be used)' }));
    return { ...base, agents: { chosen, others }, tasks: tasks.lines };
  }
  const scriptsAreNeeded = await needsScripts(tasks.folder);
  const install = installOf({ prepare: options.prepare, setup: [] }, workTree, { scriptsAreNeeded });
  const files = await writeSetup(folder, {
    ...{ repository: workTree, agents: keys, arms, hasGateway, tasks: tasks.folder },
    ...(install.commands.length > 0 && { environment: environmentKeys(install) }),
    ...present({ budget: options.budget }),
  });
  const loaded = await loadConfig(files.config);
  const { config } = loaded;
  const agents = await chooseAgents(subject, options.agent, { config, commit, here, others });
  return {
    ...{ ...base, loaded, tasks: tasks.lines },
    written: relative(process.cwd(), files.config),
    agents,
  };
}
