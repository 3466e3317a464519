import { join, relative } from 'node:path';
import { removeTrees } from '@whetstone/sandbox';
import { launcherMounts, type Mounts } from '@whetstone/sandbox/process';
import { openCommandShell } from './command-shell.ts';
import { type LayeredMount, mountCommand, overlayOptions } from './mount-options.ts';

/** Mounts and removes below the scratch folder. `target` and `folders` are absolute; the paths of a mount are relative. */
export type Mounter = AsyncDisposable & {
  mount(mount: LayeredMount): Promise<void>;
  /** A mount that is still in use is hidden and ends with its last user. */
  unmount(target: string): Promise<void>;
  /** Rejects where the mount is in use, and leaves it as it is. */
  unmountUnused(target: string): Promise<void>;
  /** Ends mounts, as `unmount` does, and a disk, then removes folders. */
  clear(request: Parameters<Mounts['clear']>[0]): Promise<void>;
};

/** By the process that starts commands, if it can mount; else with system programs. */
export function openMounter(scratch: string): Mounter {
  const mounts = launcherMounts();
  if (!mounts) return shellMounter(scratch);
  return {
    mount: (mount) => mounts.overlay(scratch, overlayOptions(mount), join(scratch, mount.target)),
    unmount: mounts.unmount,
    unmountUnused: mounts.unmountUnused,
    async clear(request) {
      // What is locked or too deep is left for other means.
      if (!(await mounts.clear(request))) await removeTrees(request.folders);
    },
    async [Symbol.asyncDispose]() {},
  };
}

function shellMounter(scratch: string): Mounter {
  const shell = openCommandShell(scratch);
  // A second shell, so that a mount does not wait for a slow removal.
  const removals = openCommandShell(scratch);
  const local = (folder: string) => relative(scratch, folder);
  const unmountUnused = (target: string) => shell.run(['umount', '--', local(target)]);
  const unmount = (target: string) =>
    unmountUnused(target).catch(() => shell.run(['umount', '-l', '--', local(target)]));
  return {
    mount: (mount) => shell.run(mountCommand(mount)),
    unmount,
    unmountUnused,
    // Disks take the process that starts commands.
    async clear({ targets, folders }) {
      for (const target of targets) await unmount(target);
      await removals.run(['rm', '-rf', '--', ...folders.map(local)]).catch(() => removeTrees(folders));
    },
    async [Symbol.asyncDispose]() {
      await shell[Symbol.asyncDispose]();
      await removals[Symbol.asyncDispose]();
    },
  };
}
