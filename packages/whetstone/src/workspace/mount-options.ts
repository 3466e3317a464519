/** Mount options of overlayfs that work on this machine, found by a probe. */
export type MountOptions = readonly string[];

/**
 * With `redirect_dir` a folder of the tree can be renamed as anywhere else; in a user namespace, which needs `userxattr`,
 * the kernel does not offer it, and `rename` of a folder fails there with EXDEV (`mv` copies then). `volatile` skips the
 * sync of the whole file system at unmounting.
 */
export const MOUNT_OPTION_SETS: readonly MountOptions[] = [
  ['redirect_dir=on', 'metacopy=off', 'index=off', 'volatile'],
  ['userxattr', 'metacopy=off', 'index=off', 'volatile'],
  ['redirect_dir=on', 'metacopy=off', 'index=off'],
  ['userxattr', 'metacopy=off', 'index=off'],
];

/**
 * The command of a layered mount. Paths are relative to the folder it runs in and made of letters, digits, `_`, `-`,
 * `.` and `/`: the option syntax gives `,`, `:` and `\` a meaning that no escape carries through every mount program.
 */
export function mountCommand(mount: {
  /** The uppermost first. */
  lower: readonly string[];
  upper: string;
  work: string;
  target: string;
  options: MountOptions;
}): string[] {
  const layers = [`lowerdir=${mount.lower.join(':')}`, `upperdir=${mount.upper}`, `workdir=${mount.work}`];
  return ['mount', '-t', 'overlay', 'overlay', '-o', [...layers, ...mount.options].join(','), mount.target];
}
