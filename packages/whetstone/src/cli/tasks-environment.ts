import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { EnvironmentConfig } from '../config/config.ts';
import { lockedInstall, type Preparation } from '../init/find-preparations.ts';

/** What installs the packages of a repository. */
export type Install = Pick<Preparation, 'commands' | 'inputs'>;

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

/** The commands that are named, else what the lock files or the manifest of a repository say. */
export function installOf({ prepare, setup }: Named, root: string): Install {
  if (prepare.length > 0 || setup.length > 0) return { commands: [...prepare] };
  return lockedInstall(root) ?? { commands: hasNodePackages(root) ? [UNLOCKED] : [] };
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
  if (commands[0] === UNLOCKED)
    return `Prepare: ${UNLOCKED} (no lock file was found, so versions are of today)`;
  const isSaid = named.prepare.length > 0 || named.setup.length > 0;
  return `Prepare: ${commands.join('; ') || (isSaid ? 'nothing' : 'nothing (no lock file was found)')}`;
}
