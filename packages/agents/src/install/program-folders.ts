import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { sandboxPath } from '@whetstone/sandbox';
import { executableOf } from '../command/executable.ts';
import { findOnPath } from '../command/find-on-path.ts';
import type { AgentConfig } from '../config.ts';
import { drivenAgentOf } from '../native/driven-agent-of.ts';
import { locateProgram } from './installed-agents.ts';

/**
 * What the program of an agent needs to be read where only listed paths are: files and folders, absolute. Empty for an agent
 * without a program, and for one that is not found.
 */
export async function programFolders(config: AgentConfig): Promise<string[]> {
  if (config.runner === 'command') {
    const program = executableOf(config.command);
    const file = program && (isAbsolute(program) ? program : await find(program));
    return file ? filesOf(file) : [];
  }
  if (config.runner !== 'driver') return [];
  const agent = drivenAgentOf(config);
  const program = await locateProgram(agent, config.driver.version).catch(() => undefined);
  if (program === undefined) return [];
  const { entry } = agent.release;
  const bridge = 'module' in entry ? bridgeFiles(createRequire(import.meta.url).resolve(entry.bridge)) : [];
  // The launchers of installed agents, and bridges, start this Node.
  return [...filesOf(program), process.execPath, ...bridge];
}

const find = (name: string): Promise<string | undefined> => findOnPath(sandboxPath(process.env.PATH))(name);

/** A program and what its links lead to, with the package that it belongs to and the packages beside that. */
function filesOf(program: string): string[] {
  if (!existsSync(program)) return [];
  const links = [program];
  for (let at = program; lstatSync(at).isSymbolicLink(); links.push(at)) {
    at = resolve(dirname(at), readlinkSync(at));
  }
  const files = [...links, ...launchedBy(program), realpathSync(program)];
  // A package has its programs in `bin`. Of any other folder with a package.json only the program is needed.
  const packages = files
    .map((file) => dirname(dirname(file)))
    .filter((folder) => existsSync(join(folder, 'package.json')));
  return [...files, ...[...new Set(packages)].flatMap(opened), ...files.flatMap(modulesAround)];
}

/** What the launcher of an installed agent starts: a Node, which may be older than this one, and a file. */
function launchedBy(program: string): string[] {
  if (statSync(program).size > 4096) return [];
  const [, node, file] = /^#!\/bin\/sh\nexec '([^']+)' '([^']+)'/.exec(readFileSync(program, 'utf8')) ?? [];
  return [node, file].filter((path) => path !== undefined && existsSync(path)) as string[];
}

/** A bridge is a file of this package, wherever that is. */
function bridgeFiles(bridge: string): string[] {
  const above = foldersAbove(bridge);
  const own = above.find((folder) => existsSync(join(folder, 'package.json'))) ?? dirname(bridge);
  const modules = above.map((folder) => join(folder, 'node_modules')).filter((folder) => existsSync(folder));
  const scoped = modules.map((folder) => join(folder, '@whetstone')).filter((folder) => existsSync(folder));
  // In a workspace they are links.
  const linked = scoped.flatMap((folder) =>
    readdirSync(folder).map((name) => realpathSync(join(folder, name))),
  );
  return [own, ...modules, ...linked];
}

/** The outermost folder `node_modules` that a file is in. */
function modulesAround(file: string): string[] {
  const [root = '', ...rest] = file.split(`${sep}node_modules${sep}`);
  return rest.length === 0 ? [] : [join(root, 'node_modules')];
}

/** A folder, or what is in it where the folder itself is closed to others. */
const opened = (folder: string): string[] =>
  (statSync(folder).mode & 0o005) === 0o005
    ? [folder]
    : readdirSync(folder).map((name) => join(folder, name));

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}
