import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentConfig } from '../config/config.ts';
import { findTestCommands } from '../init/test-commands.ts';

/** An environment that commands of the command line prepare; `timeoutSeconds`: the limit of each. */
export const environmentOf = (
  commands: readonly string[],
  timeoutSeconds: number,
): EnvironmentConfig | undefined =>
  commands.length === 0
    ? undefined
    : {
        prepare: commands.map((script) => ({ kind: 'shell', script })),
        timeoutSeconds,
        services: [],
      };

/** Commands that are named: those that prepare once, and those that run each time. */
type Named = { prepare: readonly string[]; setup: readonly unknown[] };

/** What installs the packages of a repository: the commands that are named, else what its lock file or manifest says. */
export function preparationOf({ prepare, setup }: Named, root: string): string[] {
  if (prepare.length > 0 || setup.length > 0) return [...prepare];
  const detected = findTestCommands(root)[0]?.setup ?? (hasNodePackages(root) ? UNLOCKED : undefined);
  return detected === undefined ? [] : [detected];
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

/** Says what is prepared. */
export function prepareLine(prepare: readonly string[], named: Named): string {
  if (prepare[0] === UNLOCKED)
    return `Prepare: ${UNLOCKED} (no lock file was found, so versions are of today)`;
  const isSaid = named.prepare.length > 0 || named.setup.length > 0;
  return `Prepare: ${prepare.join('; ') || (isSaid ? 'nothing' : 'nothing (no lock file was found)')}`;
}
