import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { isUnder } from '../files/sandbox-files.ts';
import { sealedEnvironment } from './sealed-environment.ts';

/** The system's programs. Links stay links. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/run/current-system',
];
const DEVICES = ['full', 'null', 'random', 'tty', 'urandom', 'zero'].map((name) => join('/dev', name));
/** What a toolchain has beside its `bin`. */
const BESIDE_BIN = ['include', 'lib', 'lib64', 'libexec', 'share'];
/** Variables that name the folder of a toolchain, which holds no secrets and is only read. */
const TOOLCHAINS = [
  ...['GOROOT', 'RUSTUP_HOME', 'JAVA_HOME', 'MAVEN_HOME', 'ANDROID_HOME', 'DOTNET_ROOT', 'NVM_DIR'],
  ...['VOLTA_HOME', 'PYENV_ROOT', 'RBENV_ROOT', 'ASDF_DATA_DIR', 'SDKMAN_DIR', 'BUN_INSTALL', 'DENO_INSTALL'],
];

/** A file or folder of this machine, or a link, at its own path. */
export type Visible = { kind: 'see' | 'link'; path: string; source: string };

/**
 * Everything of this machine that a sealed command sees beside its own folders: the system's programs, the toolchains on
 * its PATH, and `readable`. All of it read-only.
 */
export function visiblePaths(env: Readonly<Record<string, string>>, readable: readonly string[]): Visible[] {
  const named = TOOLCHAINS.flatMap((name) => env[name] ?? []).filter(isToolchain);
  const onPath = (env.PATH ?? '').split(delimiter).flatMap(toolchainOf);
  const seen: string[] = [];
  const more = [...named, ...onPath, ...readable].filter((path) => existsSync(path));
  for (const path of [...SYSTEM.filter((one) => existsSync(one)), ...DEVICES, ...more]) {
    if (!seen.some((one) => isUnder(one, path))) seen.push(path);
  }
  return seen.map((path) =>
    lstatSync(path).isSymbolicLink()
      ? { kind: 'link', path, source: readlinkSync(path) }
      : { kind: 'see', path, source: realpathSync(path) },
  );
}

/** Of which a sealed command has its own. */
const OWN = ['/etc', '/proc', ...['fd', 'stdin', 'stdout', 'stderr'].map((name) => join('/dev', name))];

/** Which of these absolute paths of this machine a sealed command would look for in vain. */
export function unseenPaths(
  paths: readonly string[],
  readable: readonly string[],
  parentEnvironment: NodeJS.ProcessEnv = process.env,
): string[] {
  const entries = visiblePaths(sealedEnvironment(parentEnvironment), readable);
  const seen = [...OWN, ...entries.map(({ path }) => path)];
  return paths.filter((path) => existsSync(path) && !seen.some((one) => isUnder(one, path)));
}

/** A folder of the PATH. Of a home or a user's folder of programs, only that: what lies beside it is the user's. */
function toolchainOf(folder: string): string[] {
  const root = dirname(folder);
  if (folder === '/' || root === '/' || isHome(folder)) return [];
  const isUsers = isHome(root) || isHome(dirname(root));
  const beside = basename(folder) === 'bin' && !isUsers ? BESIDE_BIN.map((name) => join(root, name)) : [];
  return [folder, ...beside];
}

const isToolchain = (folder: string): boolean =>
  folder.startsWith('/') && dirname(folder) !== '/' && !isHome(folder);

const isHome = (folder: string): boolean => folder === homedir() || dirname(folder) === '/home';
