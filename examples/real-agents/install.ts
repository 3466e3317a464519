/**
 * Installs the released agents of `package-versions.json` into an ignored folder, once, and makes a folder of programs
 * to put on the PATH. They are not dependencies: they are large, and a user brings their own.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Returns the folder that holds `codex` and `pi`. */
export function installAgents(): string {
  const folder = join(root, '.cache/agents');
  const versions = readFileSync(join(import.meta.dirname, 'package-versions.json'), 'utf8');
  const stamp = join(folder, 'installed.json');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== versions) {
    mkdirSync(folder, { recursive: true });
    const dependencies = JSON.parse(versions);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    writeFileSync(stamp, versions);
  }
  return linkPrograms(folder);
}

/** The native binary of codex, and pi on this Node: neither wrapper script is needed. */
function linkPrograms(folder: string): string {
  const bin = join(folder, 'bin');
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  const modules = join(folder, 'node_modules');
  const platform = `codex-${process.platform}-${process.arch}`;
  const vendor = join(modules, '@openai', platform, 'vendor');
  const [binary] = execFileSync('find', [vendor, '-path', '*/bin/codex', '-type', 'f'], {
    encoding: 'utf8',
  }).split('\n');
  if (!binary) throw new Error(`there is no codex binary in ${vendor}`);
  symlinkSync(binary, join(bin, 'codex'));
  const pi = join(modules, '@earendil-works/pi-coding-agent/dist/bundle/cli.js');
  writeFileSync(join(bin, 'pi'), `#!/bin/sh\nexec '${process.execPath}' '${pi}' "$@"\n`);
  chmodSync(join(bin, 'pi'), 0o755);
  return bin;
}
