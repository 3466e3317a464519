import { resolve } from 'node:path';
import {
  type Command,
  executableOf,
  type FindProgram,
  findOnPath,
  isExecutable,
} from '@whetstone/agents/config';
import { sandboxPath } from '@whetstone/sandbox';
import type { Config } from './config.ts';
import type { LoadedConfig } from './load-config.ts';
import { usesEngine } from './sandbox-facts.ts';
import type { YamlPath } from './yaml-source.ts';

export type ExecutableCheck = {
  path: YamlPath;
  /** The program as written; absent if the command does not name it. */
  executable?: string;
} & ({ kind: 'found'; file: string } | { kind: 'missing' | 'unknown'; reason: string });

const UNLOADED = 'only a run loads the module, which runs its code';

/**
 * Looks for the first program of every agent's `command` and `resume_command`. Does not run or install anything, so it
 * does not load modules, and needs no credentials. An absolute path must exist. A relative path with a `/` is looked up in the repository, a bare
 * name on the PATH of a sandbox, where a run starts it.
 */
export async function checkExecutables(
  { config, agentPath }: Pick<LoadedConfig, 'config' | 'agentPath'>,
  environment: NodeJS.ProcessEnv,
): Promise<ExecutableCheck[]> {
  const find = findOnPath(sandboxPath(environment.PATH));
  const isInImage = usesEngine(config.sandbox);
  const checks = config.agents.flatMap((agent): (ExecutableCheck | Promise<ExecutableCheck>)[] => {
    if (agent.runner === 'module') {
      return [{ path: [...agentPath(agent.name), 'module'], kind: 'unknown', reason: UNLOADED }];
    }
    if (agent.runner !== 'command') return [];
    const { command, resumeCommand } = agent;
    const check = (one: Command, key: string) =>
      isInImage
        ? inImage([...agentPath(agent.name), key])
        : checkExecutable(one, [...agentPath(agent.name), key], config, find);
    return [check(command, 'command'), ...(resumeCommand ? [check(resumeCommand, 'resume_command')] : [])];
  });
  return Promise.all(checks);
}

const inImage = (path: YamlPath): ExecutableCheck => ({
  ...{ path, kind: 'unknown', reason: 'the program is looked for in the image of the sandbox' },
});

/** Looks for the first program of one command. `path`: where the command is in the config. */
export async function checkExecutable(
  command: Command,
  path: YamlPath,
  { repo }: Pick<Config, 'repo'>,
  find: FindProgram,
): Promise<ExecutableCheck> {
  const executable = executableOf(command);
  if (executable === undefined) {
    return { path, kind: 'unknown', reason: 'the command does not name the program it starts' };
  }
  if (/\{[a-z_]+\}/.test(executable)) {
    return { path, executable, kind: 'unknown', reason: 'the program is known only when a case runs' };
  }
  const isName = !executable.includes('/');
  const file = isName ? await find(executable) : resolve(repo.path, executable);
  if (file !== undefined && (isName || (await isExecutable(file)))) {
    return { path, executable, kind: 'found', file };
  }
  const reason = isName ? `${executable} is not on the PATH` : `${file} is not an executable file`;
  return { path, executable, kind: 'missing', reason };
}
