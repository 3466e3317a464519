import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
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

/** The program of an installation; of an SDK, its module. */
export function programIn(agent: DrivenAgent, version: string, environment?: NodeJS.ProcessEnv): string {
  const { entry, program } = agent.release;
  const folder = agentFolder(agent, version, environment);
  return 'module' in entry ? join(folder, 'node_modules', entry.module) : join(folder, 'bin', program);
}

/** How a located program is started. An SDK is started by its bridge, on this Node, which supports the bridge. */
export function startOf({ release: { entry } }: DrivenAgent, program: string): [string, ...string[]] {
  if (!('module' in entry)) return [program];
  return [process.execPath, createRequire(import.meta.url).resolve(entry.bridge), program];
}

/** The module of an SDK that the user's project has, or the project of this package; `undefined`: neither has it. */
export function moduleOfProject({ release: { entry } }: DrivenAgent): string | undefined {
  if (!('module' in entry)) return undefined;
  const { module } = entry;
  return [process.cwd(), import.meta.dirname]
    .flatMap(foldersAbove)
    .map((folder) => join(folder, 'node_modules', module))
    .find((file) => existsSync(file));
}

const foldersAbove = (folder: string): string[] =>
  folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(dirname(folder))];

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
 * The program of an agent, or the module of an SDK. With `version`: that installed version. Without: the program on the
 * PATH or the module of the user's project, else the newest installed version. PATH and cache folder are those of
 * `environment`; default: `process.env`.
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
  const { program, entry } = agent.release;
  const isModule = 'module' in entry;
  const found = isModule ? moduleOfProject(agent) : await findOnPath(sandboxPath(environment.PATH))(program);
  if (found !== undefined) return found;
  const [newest] = await installedVersions(agent, environment);
  if (newest !== undefined) return programIn(agent, newest, environment);
  const place = isModule ? `a dependency of ${process.cwd()}` : 'on the PATH';
  throw notInstalled(agent, `${program} is not ${place}, and not installed.`);
}

function notInstalled(agent: DrivenAgent, message: string, version?: string): WhetstoneError {
  const { kind, release } = agent;
  const global = 'module' in release.entry ? '' : '-g ';
  const wanted = version === undefined ? '' : `@${version}`;
  return new WhetstoneError('agent-not-installed', message, {
    where: kind,
    hint: `Install it: whetstone agents install ${folderOf(agent)}${wanted}, or npm install ${global}${release.package}${wanted}`,
  });
}
