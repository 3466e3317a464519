import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';

const LIMIT_MS = 300_000;

/** Installs packages into a folder of their own, without running their scripts. */
export function installPackages(folder: string, packages: readonly string[], options: string[] = []): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...options, ...packages];
  execFileSync('npm', args, { cwd: folder, stdio: 'ignore', timeout: LIMIT_MS });
}

/** The same for peers that may be missing. Returns why they cannot be measured, or `undefined` when they can. */
export function tryInstall(...asked: Parameters<typeof installPackages>): string | undefined {
  try {
    installPackages(...asked);
    return undefined;
  } catch (error) {
    return messageOf(error).split('\n', 1)[0];
  }
}
