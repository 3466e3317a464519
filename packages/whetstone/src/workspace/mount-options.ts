/** Mount options of overlayfs that work on this machine, found by a probe. */
export type MountOptions = readonly string[];

/**
 * Option sets to try, the best first. Without `redirect_dir`, which a user namespace (`userxattr`) does not have,
 * `rename` of a folder fails with EXDEV, and `mv` copies. `volatile` skips syncing the file system on unmount.
 */
export const MOUNT_OPTION_SETS: readonly MountOptions[] = [
  ['redirect_dir=on', 'metacopy=off', 'index=off', 'volatile'],
  ['userxattr', 'metacopy=off', 'index=off', 'volatile'],
  ['redirect_dir=on', 'metacopy=off', 'index=off'],
  ['userxattr', 'metacopy=off', 'index=off'],
];

/** Paths are relative and plain (`\w`, `-`, `.`, `/`): no escape for `,`, `:` and `\` works in every mount program. */
export type LayeredMount = {
  /** The uppermost layer first. */
  lower: readonly string[];
  upper: string;
  work: string;
  target: string;
  options: MountOptions;
};

export function mountCommand(mount: LayeredMount): string[] {
  return ['mount', '-t', 'overlay', 'overlay', '-o', overlayOptions(mount), mount.target];
}

export function overlayOptions({ lower, upper, work, options }: LayeredMount): string {
  return [`lowerdir=${lower.join(':')}`, `upperdir=${upper}`, `workdir=${work}`, ...options].join(',');
}
