import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The test runners that this repository does not use itself. */
const PACKAGES = ['chai@6.3.0', 'jest@30.5.2', 'mocha@12.0.3'];

const cache = join(import.meta.dirname, '../../../../../.cache/test-runners');

/** The `node_modules` with Jest, Mocha and Chai, or with other packages, installed from the registry when it is missing. */
export async function installedRunners(packages: readonly string[] = PACKAGES): Promise<string> {
  const folder = join(cache, packages.join('+').replaceAll('/', '-'));
  const modules = join(folder, 'node_modules');
  if (existsSync(modules)) return modules;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  execFileSync(
    'npm',
    [
      ...['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'],
      ...['--prefix', making, ...packages],
    ],
    { stdio: 'pipe' },
  );
  await rename(making, folder).catch(() => rm(making, { recursive: true })); // another process was faster
  return modules;
}
