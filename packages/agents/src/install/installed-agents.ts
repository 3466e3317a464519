import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { sandboxPath } from '@whetstone/sandbox';
import { findOnPath } from '../command/find-on-path.ts';
import type { DrivenAgent } from '../native/native-agent.ts';
import { cacheFolder } from './cache-folder.ts';

/** The folder of the installed agents in the user's cache; each is in `agents/KIND/VERSION`. */
const agentsFolder = (environment?: NodeJS.ProcessEnv): string => join(cacheFolder(environment), 'agents');

/** Kinds that run the same program share its installations. */
const folderOf = ({ kind, release }: DrivenAgent): string => release.installedAs ?? kind;

export const agentFolder = (agent: DrivenAgent, version: string, environment?: NodeJS.ProcessEnv): string =>
  join(agentsFolder(environment), folderOf(agent), version);

export const programIn = (agent: DrivenAgent, version: string, environment?: NodeJS.ProcessEnv): string =>
  join(agentFolder(agent, version, environment), 'bin', agent.release.program);

/** The folder that an installed program was unpacked into; `undefined` when there is none, and for other programs. */
export function unpackedBeside(program: string): string | undefined {
  const folder = unpackedFolder(dirname(dirname(program)));
  return existsSync(folder) ? folder : undefined;
}

export const unpackedFolder = (installation: string): string => join(installation, 'unpacked');

export const isInstalled = async (
  agent: DrivenAgent,
  version: string,
  environment?: NodeJS.ProcessEnv,
): Promise<boolean> => existsSync(programIn(agent, version, environment));

/** The newest first. */
export async function installedVersions(
  agent: DrivenAgent,
  environment?: NodeJS.ProcessEnv,
): Promise<string[]> {
  const names = await readdir(join(agentsFolder(environment), folderOf(agent))).catch(() => []);
  const versions: string[] = [];
  for (const name of names) {
    if (/^\d/.test(name) && (await isInstalled(agent, name, environment))) versions.push(name);
  }
  return versions.sort((left, right) => right.localeCompare(left, 'en', { numeric: true }));
}

/**
 * The program of an agent. With `version`: that installed version. Without: the program on the PATH, else the newest
 * installed version. PATH and cache folder are those of `environment`; default: `process.env`.
 *
 * @throws WhetstoneError `agent-not-installed`
 */
export async function locateProgram(
  agent: DrivenAgent,
  version?: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  if (version !== undefined) {
    if (await isInstalled(agent, version, environment)) return programIn(agent, version, environment);
    throw notInstalled(agent, `${agent.kind} ${version} is not installed.`, version);
  }
  const onPath = await findOnPath(sandboxPath(environment.PATH))(agent.release.program);
  if (onPath !== undefined) return onPath;
  const [newest] = await installedVersions(agent, environment);
  if (newest !== undefined) return programIn(agent, newest, environment);
  throw notInstalled(agent, `${agent.release.program} is not on the PATH, and not installed.`);
}

function notInstalled(
  { kind, release: { package: name } }: DrivenAgent,
  message: string,
  version?: string,
): WhetstoneError {
  const wanted = version === undefined ? '' : `@${version}`;
  return new WhetstoneError('agent-not-installed', message, {
    where: kind,
    hint: `Install it: whetstone agents install ${kind}${wanted}, or npm install -g ${name}${wanted}`,
  });
}
