import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { EnvironmentConfig } from '../config/config.ts';
import { scriptsOfProject } from '../environment/whole-tree.ts';
import { lockedInstall, type Preparation } from '../init/find-preparations.ts';

/**
 * What installs the packages of a repository. `withScripts`: the same with the installation scripts of the project itself,
 * such as a build, where `commands` leave them out.
 */
export type Install = Pick<Preparation, 'commands' | 'inputs'> & { withScripts?: string[] };

/** An environment that commands of the command line prepare; `timeoutSeconds`: the limit of each. */
export const environmentOf = (
  { commands, inputs }: Install,
  timeoutSeconds: number,
): EnvironmentConfig | undefined =>
  commands.length === 0
    ? undefined
    : {
        prepare: commands.map((script) => ({ kind: 'shell', script })),
        timeoutSeconds,
        ...present({ inputs }),
        services: [],
      };

/** Commands that are named: those that prepare once, and those that run each time. */
type Named = { prepare: readonly string[]; setup: readonly unknown[] };

/**
 * The commands that are named, else what the lock files or the manifest of a repository say. These leave out scripts of the
 * project that would need its sources, and so an installation for each tree, unless `scriptsAreNeeded`.
 */
export function installOf(
  { prepare, setup }: Named,
  root: string,
  { scriptsAreNeeded = false }: { scriptsAreNeeded?: boolean } = {},
): Install {
  if (prepare.length > 0 || setup.length > 0) return { commands: [...prepare] };
  const install: Install = lockedInstall(root) ?? { commands: hasNodePackages(root) ? [UNLOCKED] : [] };
  const manifests = ['package.json', '.npmrc'].flatMap((path) =>
    existsSync(join(root, path)) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [],
  );
  const commands = install.commands.map((command) =>
    scriptsOfProject(command, manifests) === undefined ? command : `${command} --ignore-scripts`,
  );
  if (scriptsAreNeeded || install.inputs || commands.join() === install.commands.join()) return install;
  return { ...install, commands, withScripts: install.commands };
}

/** Its lock file would be one more file of each tree. */
const UNLOCKED = 'npm install --no-audit --no-fund --no-package-lock';

function hasNodePackages(root: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
  } catch {
    return false;
  }
}

/** As the keys of a configuration. */
export const environmentKeys = ({ commands, inputs }: Install) => ({
  prepare: commands,
  ...present({ inputs }),
});

/** Says what is prepared. */
export function prepareLine({ commands }: Install, named: Named): string {
  if (commands[0]?.startsWith(UNLOCKED))
    return `Prepare: ${commands[0]} (no lock file was found, so versions are of today)`;
  const isSaid = named.prepare.length > 0 || named.setup.length > 0;
  return `Prepare: ${commands.join('; ') || (isSaid ? 'nothing' : 'nothing (no lock file was found)')}`;
}
