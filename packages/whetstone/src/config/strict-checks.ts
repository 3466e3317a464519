import { type AgentConfig, agentKeyVariable, findOnPath } from '@whetstone/agents/config';
import { isDeviceName } from '@whetstone/sandbox';
import { checkExecutable } from './check-executables.ts';
import { inspectRepository, resolvesToCommit } from './check-repository.ts';
import type { Config, TaskConfig } from './config.ts';
import type { Diagnostic } from './diagnostic.ts';
import { referencedVariables } from './environment-reference.ts';
import type { LoadedConfig } from './load-config.ts';
import type { YamlPath } from './yaml-source.ts';

const PORTABLE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/**
 * What `--strict` asks beyond loading: a Git repository with the refs that are named, portable task ids, set environment
 * variables, and the programs of the validation commands. Changes nothing, and starts only `git rev-parse`.
 */
export async function strictChecks(
  loaded: LoadedConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Diagnostic[]> {
  return [
    ...(await checkRepository(loaded)),
    ...loaded.config.tasks.flatMap((task, index) => checkTaskId(task, index, loaded)),
    ...loaded.config.agents.flatMap((agent) => checkEnvironment(agent, loaded, environment)),
    ...(await checkValidationPrograms(loaded, environment.PATH)),
  ];
}

async function checkRepository({ config, diagnose }: LoadedConfig): Promise<Diagnostic[]> {
  const { repo } = config;
  const at = (message: string, hint?: string) => [
    diagnose('config', 'error', ['repo', 'path'], message, { hint }),
  ];
  const state = await inspectRepository(repo.path);
  if (state.kind === 'no-git') return at('git is not installed', 'install git and put it on the PATH');
  if (state.kind === 'bare') {
    return at('is a bare Git repository', 'clone it, and point repo.path at the clone');
  }
  if (state.kind === 'not-a-repository') {
    return at(
      `is not a Git repository (${state.message})`,
      'run git init and commit, or point repo.path elsewhere',
    );
  }
  if (state.kind === 'inside') {
    return at(`is a folder inside the repository ${state.root}`, `set repo.path to ${state.root}`);
  }
  if (!(await resolvesToCommit(repo.path, repo.baseRef))) return unresolvedBase({ config, diagnose });
  const found: Diagnostic[] = [];
  for (const [index, { repoRef }] of config.tasks.entries()) {
    if (repoRef === undefined || (await resolvesToCommit(repo.path, repoRef))) continue;
    found.push(
      diagnose('tasks', 'error', ['tasks', index, 'repo_ref'], `does not resolve to a commit: ${repoRef}`),
    );
  }
  return found;
}

async function unresolvedBase({
  config,
  diagnose,
}: Pick<LoadedConfig, 'config' | 'diagnose'>): Promise<Diagnostic[]> {
  const { path, baseRef } = config.repo;
  const unborn = !(await resolvesToCommit(path, 'HEAD'));
  return unborn && baseRef === 'HEAD'
    ? [
        diagnose('config', 'error', ['repo', 'path'], 'the repository has no commit yet', {
          hint: 'make a first commit',
        }),
      ]
    : [diagnose('config', 'error', ['repo', 'base_ref'], `does not resolve to a commit: ${baseRef}`)];
}

function checkTaskId({ id }: TaskConfig, index: number, { diagnose }: LoadedConfig): Diagnostic[] {
  const path = ['tasks', index, 'id'];
  if (!PORTABLE_ID.test(id) || id.endsWith('.')) {
    const hint = 'use letters, digits, _, . and -; start with a letter or digit, and do not end with a dot';
    return [diagnose('tasks', 'error', path, 'is not portable as a file name', { hint })];
  }
  if (!isDeviceName(id)) return [];
  return [
    diagnose('tasks', 'error', path, 'is reserved for a device on Windows', {
      hint: 'choose another id',
    }),
  ];
}

function checkEnvironment(
  agent: AgentConfig,
  { config, agentPath, diagnose }: LoadedConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Diagnostic[] {
  const base = agentPath(agent.name);
  const found = Object.entries(agent.env).flatMap(([name, value]) =>
    referencedVariables(value)
      .filter((variable) => !environment[variable])
      .map((variable) =>
        diagnose(
          'config',
          'error',
          [...base, 'env', name],
          `the environment variable ${variable} is not set`,
          {
            hint: `export ${variable}`,
            secret: true,
          },
        ),
      ),
  );
  const key = agentKeyVariable(agent);
  if (key !== undefined && !config.gateway && !environment[key]) {
    found.push(
      diagnose('config', 'error', [...base, 'api_key_env'], `the environment variable ${key} is not set`, {
        hint: `export ${key}, or configure a gateway`,
      }),
    );
  }
  return found;
}

/** A program named by a path may come from the commit, the setup or the hidden tests, so it causes only a warning. */
async function checkValidationPrograms(
  { config, diagnose }: LoadedConfig,
  searchPath?: string,
): Promise<Diagnostic[]> {
  const find = findOnPath(searchPath);
  const lists: { where: 'config' | 'tasks'; base: YamlPath; commands: Config['evaluation']['commands'] }[] = [
    { where: 'config', base: ['evaluation', 'commands'], commands: config.evaluation.commands },
    ...config.tasks.map(({ validation }, index) => ({
      where: 'tasks' as const,
      base: ['tasks', index, 'validation', 'commands'],
      // A task without own commands shares the list of `evaluation`, which is checked once.
      commands: validation.commands === config.evaluation.commands ? [] : validation.commands,
    })),
  ];
  const found: Diagnostic[] = [];
  for (const { where, base, commands } of lists) {
    for (const [index, command] of commands.entries()) {
      const check = await checkExecutable(command, [...base, index], config, find);
      if (check.kind !== 'missing') continue;
      const severity = check.executable?.includes('/') ? 'warning' : 'error';
      found.push(
        diagnose(where, severity, check.path, check.reason, { hint: 'install it, or correct the command' }),
      );
    }
  }
  return found;
}
