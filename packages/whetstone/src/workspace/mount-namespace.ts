import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { briefFolder } from '@whetstone/sandbox/files';
import { launcherMounts } from '@whetstone/sandbox/process';
import { leanEnvironment } from './lean-memory.ts';
import { MOUNT_OPTION_SETS, mountCommand } from './mount-options.ts';
import { privateRootScript } from './private-root.ts';

/**
 * Layered mounts belong in a mount namespace of this process: they vanish with it, even after `kill -9`. The variable
 * holds the namespace before the restart, and is removed at once, so that no child reads it.
 */
const MARKER = 'WHETSTONE_OUTER_MOUNT_NAMESPACE';
const outerNamespace = process.env[MARKER];
delete process.env[MARKER];

/** Set by the restart when the process got a root of its own: the empty folder there that has only the root above it. */
const ROOT_MARKER = 'WHETSTONE_PRIVATE_FOLDER';
let privateFolder = process.env[ROOT_MARKER] || undefined;
delete process.env[ROOT_MARKER];

/**
 * Shows `folder` under a path that has nothing above it but the root, which cannot be written. There the entries
 * `unwanted` are taken away; in the root of the machine they stay. Resolves with the path and a function that ends it;
 * `undefined` where the process has no root of its own, or the path is in use.
 */
export async function mountPrivately(
  folder: string,
  unwanted: readonly string[],
): Promise<{ path: string; unmount: () => Promise<void> } | undefined> {
  const path = privateFolder;
  if (path === undefined) return undefined;
  privateFolder = undefined;
  // What cannot be taken away is found by the check of the folders above.
  if (unwanted.length > 0) await run('/bin/sh', ['-c', TAKE_AWAY, 'sh', ...unwanted]).catch(() => undefined);
  const { bind, unmount } = launcherMounts() ?? WITH_PROGRAMS;
  const isMounted = await bind(folder, path).then(
    () => true,
    () => false,
  );
  if (!isMounted) return undefined;
  return {
    path,
    async unmount() {
      await unmount(path);
      privateFolder = path;
    },
  };
}

/** Removes only what is left without the mount: an empty file, an empty folder or a copied symlink. */
const TAKE_AWAY = `
mount -n -o remount,rw / || exit 1
for entry in "$@"; do
  umount -n -l -- "$entry"
  if [ -L "$entry" ] || [ ! -s "$entry" ]; then rm -f -- "$entry" || rmdir -- "$entry"; else rmdir -- "$entry"; fi
done
mount -n -o remount,ro /
`;

const run = promisify(execFile);

/** For where the process that starts commands cannot mount. */
const WITH_PROGRAMS = {
  bind: (source: string, target: string) => run('mount', ['--bind', '--', source, target]),
  unmount: (target: string) => run('umount', ['-l', '--', target]),
};

/** Whether this process runs in a mount namespace that `enterPrivateMountNamespace` made. */
export function isPrivateMountNamespace(): boolean {
  return outerNamespace !== undefined && currentNamespace() !== outerNamespace;
}

/**
 * Restarts the process, with the same id, in a mount namespace of its own, unless it is in one or mounts do not work; where
 * it can, with a root of its own.
 * Call it first: nothing may be open yet. `argv`: what follows the executable, with the options of Node.
 * For a normal user this takes a user namespace as well, where the process has ambient capabilities; a child that is
 * not trusted should drop them (`setpriv --ambient-caps -all`).
 */
export function enterPrivateMountNamespace(argv: readonly string[] = ownArguments()): void {
  if (typeof process.execve !== 'function') return;
  const command = privateMountCommand(argv);
  if (!command) return;
  process.execve(command.file, ['unshare', ...command.args], { ...process.env, ...command.env });
}

/**
 * What starts Node with these arguments in such a namespace, with the id of the process that starts it. `env`: what to add
 * to the environment. `undefined` where this process is in one already, or mounts do not work.
 */
export function privateMountCommand(
  argv: readonly string[],
): { file: string; args: string[]; env: Record<string, string> } | undefined {
  const outer = currentNamespace();
  if (outer === undefined || outerNamespace !== undefined) return undefined;
  const file = ['/usr/bin/unshare', '/bin/unshare'].find((one) => existsSync(one));
  if (file === undefined) return undefined;
  const options = NAMESPACES.find((candidate) => mountsWorkIn(file, candidate));
  if (options === undefined) return undefined;
  const restart = ['/bin/sh', '-c', privateRootScript(), 'sh', process.execPath, ...argv];
  return { file, args: [...options, '--', ...restart], env: { ...leanEnvironment(), [MARKER]: outer } };
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
  const directory = mkdtempSync(join(tmpdir(), briefFolder()));
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
