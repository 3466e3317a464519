/** Mount options of overlayfs that work on this machine, found by a probe. */
export type MountOptions = readonly string[];

/**
 * Option sets to try, the best first. With `redirect_dir` a folder of the tree can be renamed as usual. In a user
 * namespace, which needs `userxattr`, the kernel does not offer it: `rename` of a folder fails with EXDEV (then `mv`
 * copies). `volatile` skips syncing the whole file system when unmounting.
 */
export const MOUNT_OPTION_SETS: readonly MountOptions[] = [
  ['redirect_dir=on', 'metacopy=off', 'index=off', 'volatile'],
  ['userxattr', 'metacopy=off', 'index=off', 'volatile'],
  ['redirect_dir=on', 'metacopy=off', 'index=off'],
  ['userxattr', 'metacopy=off', 'index=off'],
];

/**
 * The command of a layered mount. Paths are relative to the folder that it runs in and have only letters, digits,
 * `_`, `-`, `.` and `/`: in mount options `,`, `:` and `\` have a meaning, and no escape for them works in every mount
 * program.
 */
export function mountCommand(mount: {
  /** The uppermost layer first. */
  lower: readonly string[];
  upper: string;
  work: string;
  target: string;
  options: MountOptions;
}): string[] {
  const layers = [`lowerdir=${mount.lower.join(':')}`, `upperdir=${mount.upper}`, `workdir=${mount.work}`];
  return ['mount', '-t', 'overlay', 'overlay', '-o', [...layers, ...mount.options].join(','), mount.target];
}
