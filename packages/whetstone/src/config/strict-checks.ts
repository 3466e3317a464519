import { realpath } from 'node:fs/promises';
import { type AgentConfig, agentKeyVariable, findOnPath } from '@whetstone/agents/config';
import { isDeviceName } from '@whetstone/sandbox';
import { askGit } from './ask-git.ts';
import { checkExecutable } from './check-executables.ts';
import type { Config, TaskConfig } from './config.ts';
import type { Diagnostic } from './diagnostic.ts';
import { referencedVariables } from './environment-reference.ts';
import type { LoadedConfig } from './load-config.ts';
import { protectedFiles } from './protected-paths.ts';
import type { FindingOptions } from './spot.ts';
import type { YamlPath } from './yaml-source.ts';

const PORTABLE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/**
 * What `--strict` asks beyond loading: a Git repository with the refs that are named, portable task ids, set environment
 * variables, protected and removed paths that exist, and the programs of the validation commands. Changes nothing, and starts only `git rev-parse`.
 */
export async function strictChecks(
  loaded: LoadedConfig,
  environment: NodeJS.ProcessEnv,
): Promise<Diagnostic[]> {
  return [
    ...(await checkRepository(loaded)),
    ...loaded.config.tasks.flatMap((task, index) => checkTaskId(task, index, loaded)),
    ...loaded.config.agents.flatMap((agent) => checkEnvironment(agent, loaded, environment)),
    ...(await checkValidationPrograms(loaded, environment.PATH)),
  ];
}

async function checkRepository({ config, diagnose }: LoadedConfig): Promise<Diagnostic[]> {
  const { path, baseRef } = config.repo;
  const problem = await repositoryProblem(path);
  if (problem) {
    return [diagnose('config', 'error', ['repo', 'path'], problem.message, { hint: problem.hint })];
  }
  if (!(await resolvesToCommit(path, baseRef))) {
    if (baseRef !== 'HEAD') return [diagnose('config', 'error', ['repo', 'base_ref'], unresolved(baseRef))];
    const hint = 'make a first commit';
    return [diagnose('config', 'error', ['repo', 'path'], 'the repository has no commit yet', { hint })];
  }
  const found: Diagnostic[] = [];
  for (const [index, { repoRef }] of config.tasks.entries()) {
    if (repoRef === undefined || (await resolvesToCommit(path, repoRef))) continue;
    found.push(diagnose('tasks', 'error', ['tasks', index, 'repo_ref'], unresolved(repoRef)));
  }
  if (found.length > 0) return found;
  return [
    ...(await checkProtectedPaths({ config, diagnose })),
    ...(await checkRemovals({ config, diagnose })),
  ];
}

async function checkProtectedPaths({ config, diagnose }: Pick<LoadedConfig, 'config' | 'diagnose'>) {
  const { repo, tasks } = config;
  const found = await protectedFiles(repo.path, tasks, ({ repoRef }) => repoRef ?? repo.baseRef);
  return found
    .filter(({ files }) => files === 0)
    .map(({ task: id, pattern }) => {
      const index = tasks.findIndex((task) => task.id === id);
      const at = tasks[index]?.protectedPaths.indexOf(pattern) ?? 0;
      const hint = 'check how it is spelled';
      const path = ['tasks', index, 'protected_paths', at];
      return diagnose('tasks', 'error', path, 'matches no file of the tree', { hint });
    });
}

/** A removal of what no tree has leaves the variant as it was: a misspelt name costs a whole run. */
async function checkRemovals({ config, diagnose }: Pick<LoadedConfig, 'config' | 'diagnose'>) {
  const { repo, tasks, variants } = config;
  const refs = [...new Set(tasks.map(({ repoRef }) => repoRef ?? repo.baseRef))];
  const found: Diagnostic[] = [];
  for (const { name, overlays } of variants) {
    const laid = [...overlays, ...tasks.flatMap((task) => task.overlays ?? [])].flatMap((one) =>
      one.kind === 'remove' ? [] : one.target,
    );
    for (const [index, overlay] of overlays.entries()) {
      for (const [at, removed] of (overlay.kind === 'remove' ? overlay.paths : []).entries()) {
        const path = removed.replace(/\/+$/, '');
        if (laid.some((target) => isAtOrBelow(path, target) || isAtOrBelow(target, path))) continue;
        if (await isInAny(repo.path, refs, path)) continue;
        const place = ['variants', name, 'overlays', index, 'remove', at];
        const hint = 'check how it is spelled: nothing is removed';
        found.push(diagnose('config', 'warning', place, `no tree of a task has ${path}`, { hint }));
      }
    }
  }
  return found;
}

const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder.replace(/\/+$/, '')}/`);

async function isInAny(repo: string, refs: readonly string[], path: string): Promise<boolean> {
  for (const ref of refs) {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}:${path}`];
    if ((await askGit(repo, args)).kind === 'output') return true;
  }
  return false;
}

const unresolved = (ref: string): string => `does not resolve to a commit: ${ref}`;

function checkTaskId({ id }: TaskConfig, index: number, { diagnose }: LoadedConfig): Diagnostic[] {
  const report = (message: string, hint: string) => [
    diagnose('tasks', 'error', ['tasks', index, 'id'], message, { hint }),
  ];
  if (!PORTABLE_ID.test(id) || id.endsWith('.')) {
    return report(
      'is not portable as a file name',
      'a run takes it, under a changed name; to keep it, use letters, digits, _, . and -, start with a letter or digit, and end without a dot',
    );
  }
  return isDeviceName(id)
    ? report(
        'is reserved for a device on Windows',
        'a run takes it, under a changed name; choose another id to keep it',
      )
    : [];
}

function checkEnvironment(
  agent: AgentConfig,
  { config, agentPath, diagnose }: LoadedConfig,
  environment: NodeJS.ProcessEnv,
): Diagnostic[] {
  const unset = (variable: string, keys: string[], options: FindingOptions) => {
    const message = `the environment variable ${variable} is not set`;
    return diagnose('config', 'error', [...agentPath(agent.name), ...keys], message, options);
  };
  const found = Object.entries(agent.env).flatMap(([name, value]) =>
    referencedVariables(value)
      .filter((variable) => !environment[variable])
      .map((variable) => unset(variable, ['env', name], { hint: `export ${variable}`, secret: true })),
  );
  const key = agentKeyVariable(agent);
  if (key !== undefined && !config.gateway && !environment[key]) {
    found.push(unset(key, ['api_key_env'], { hint: `export ${key}, or configure a gateway` }));
  }
  return found;
}

/** A program named by a path may come from the commit, the setup or the hidden tests, so it causes only a warning. */
async function checkValidationPrograms({ config, diagnose }: LoadedConfig, searchPath?: string) {
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

/** Why a folder is not the root of a Git repository with a work tree, and what to do; `undefined` if it is. */
async function repositoryProblem(path: string): Promise<{ message: string; hint: string } | undefined> {
  const bare = await askGit(path, ['rev-parse', '--is-bare-repository']);
  if (bare.kind === 'no-git') {
    return { message: 'git is not installed', hint: 'install git and put it on the PATH' };
  }
  if (bare.kind === 'failed') return notRepository(bare.message);
  if (bare.output === 'true') {
    return { message: 'is a bare Git repository', hint: 'clone it, and point repo.path at the clone' };
  }
  const root = await askGit(path, ['rev-parse', '--show-toplevel']);
  if (root.kind !== 'output') return notRepository('it is inside a .git folder');
  if (root.output === (await realpath(path))) return undefined;
  const message = `is a folder inside the repository ${root.output}`;
  return { message, hint: `set repo.path to ${root.output}` };
}

const notRepository = (why: string) => ({
  message: `is not a Git repository (${why})`,
  hint: 'run git init and commit, or point repo.path elsewhere',
});

/** Whether a ref names a commit of the repository. */
async function resolvesToCommit(path: string, ref: string): Promise<boolean> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  return (await askGit(path, args)).kind === 'output';
}
