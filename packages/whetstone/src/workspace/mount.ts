import { execa } from 'execa';

/**
 * An overlay mount. All paths are relative to `cwd` and made of letters, digits, `-` and `/` by those who call:
 * the option syntax of overlayfs gives `,`, `:` and `\` a meaning that no escape carries through every mount program.
 */
export type OverlayMount = {
  cwd: string;
  /** The uppermost first. */
  lower: readonly string[];
  upper: string;
  work: string;
  target: string;
  options: OverlayOptions;
};

/** Found by a probe: what the kernel takes here. */
export type OverlayOptions = readonly string[];

/**
 * With `redirect_dir` a folder of the tree can be renamed as anywhere else; in a user namespace, which needs `userxattr`,
 * the kernel does not offer it, and `rename` of a folder fails there with EXDEV (`mv` copies then). `volatile` skips the
 * sync of the whole file system at unmounting.
 */
export const OVERLAY_OPTION_SETS: readonly OverlayOptions[] = [
  ['redirect_dir=on', 'metacopy=off', 'index=off', 'volatile'],
  ['userxattr', 'metacopy=off', 'index=off', 'volatile'],
  ['redirect_dir=on', 'metacopy=off', 'index=off'],
  ['userxattr', 'metacopy=off', 'index=off'],
];

export async function mountOverlay(mount: OverlayMount): Promise<void> {
  await execa('mount', mountArguments(mount), { cwd: mount.cwd, stdin: 'ignore' });
}

export function mountArguments(mount: Omit<OverlayMount, 'cwd'>): string[] {
  const layers = [`lowerdir=${mount.lower.join(':')}`, `upperdir=${mount.upper}`, `workdir=${mount.work}`];
  return ['-t', 'overlay', 'overlay', '-o', [...layers, ...mount.options].join(','), mount.target];
}

/** Unmounts; where something still holds the mount, it is taken out of sight and ends with its last holder. */
export async function unmount(target: string): Promise<void> {
  const done = await execa('umount', ['--', target], { reject: false, stdin: 'ignore' });
  if (done.failed) await execa('umount', ['-l', '--', target], { stdin: 'ignore' });
}
