import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { publicPackages } from '../scripts/release/public-packages.ts';
import { installPackages } from './install-packages.ts';

const ROOT = join(import.meta.dirname, '..');

/** Packs the packages and installs them into `user` below `work`, as a user does. Returns that `node_modules`. */
export function installPacked(work: string): string {
  const tarballs = join(work, 'tarballs');
  const user = join(work, 'user');
  mkdirSync(tarballs);
  const workspaces = publicPackages(ROOT).flatMap(({ name }) => ['--workspace', name]);
  execFileSync('npm', ['pack', '--pack-destination', tarballs, ...workspaces], {
    cwd: ROOT,
    stdio: 'ignore',
  });
  installPackages(
    user,
    readdirSync(tarballs).map((name) => join(tarballs, name)),
  );
  return join(user, 'node_modules');
}
