import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MOUNT_OPTION_SETS, mountCommand } from './mount-options.ts';

/**
 * Layered mounts belong in a mount namespace of this process: they vanish with it, even after `kill -9`. The variable
 * holds the namespace before the restart, and is removed at once, so that no child reads it.
 */
const MARKER = 'WHETSTONE_OUTER_MOUNT_NAMESPACE';
const outerNamespace = process.env[MARKER];
delete process.env[MARKER];

/** Whether this process runs in a mount namespace that `enterPrivateMountNamespace` made. */
export function isPrivateMountNamespace(): boolean {
  return outerNamespace !== undefined && currentNamespace() !== outerNamespace;
}

/**
 * Restarts the process, with the same id, in a mount namespace of its own, unless it is in one or mounts do not work.
 * Call it first: nothing may be open yet. `argv`: what follows the executable, with the options of Node.
 * For a normal user this takes a user namespace as well, where the process has ambient capabilities; a child that is
 * not trusted should drop them (`setpriv --ambient-caps -all`).
 */
export function enterPrivateMountNamespace(argv: readonly string[] = ownArguments()): void {
  const outer = currentNamespace();
  if (outer === undefined || outerNamespace !== undefined || typeof process.execve !== 'function') return;
  const unshare = ['/usr/bin/unshare', '/bin/unshare'].find((file) => existsSync(file));
  if (unshare === undefined) return;
  const options = NAMESPACES.find((candidate) => mountsWorkIn(unshare, candidate));
  if (options === undefined) return;
  process.execve(unshare, ['unshare', ...options, '--', process.execPath, ...argv], {
    ...process.env,
    [MARKER]: outer,
  });
}

/** The options for root, and those for everyone else. */
const NAMESPACES = [
  ['--mount', '--propagation', 'private'],
  ['--mount', '--propagation', 'private', '--user', '--map-current-user', '--keep-caps'],
];

function ownArguments(): string[] {
  return [...process.execArgv, ...process.argv.slice(1)];
}

function currentNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/mnt');
  } catch {
    return undefined;
  }
}

function mountsWorkIn(unshare: string, namespaces: readonly string[]): boolean {
  const directory = mkdtempSync(join(tmpdir(), `whetstone-${process.pid}-`));
  try {
    for (const folder of ['lower', 'upper', 'work', 'target']) mkdirSync(join(directory, folder));
    return MOUNT_OPTION_SETS.some((options) => {
      const mount = { lower: ['lower'], upper: 'upper', work: 'work', target: 'target', options };
      const args = [...namespaces, '--', ...mountCommand(mount)];
      return spawnSync(unshare, args, { cwd: directory, stdio: 'ignore' }).status === 0;
    });
  } finally {
    // Overlayfs leaves folders without permissions, which only root can remove unchanged.
    spawnSync('chmod', ['-R', 'u+rwX', directory], { stdio: 'ignore' });
    rmSync(directory, { recursive: true, force: true });
  }
}
