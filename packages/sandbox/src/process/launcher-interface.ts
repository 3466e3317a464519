import type { Started } from './pending-programs.ts';

/** Root needs no user namespace. The paths are absolute. */
export type Namespace = {
  inUserNamespace: boolean;
  /**
   * The program sees of `common` only its folder `own`, in place of the rest `view`, and cannot write beside it. With `at`,
   * an existing folder or one in `view`, it sees `own` there as well.
   */
  hiding?: { common: string; own: string; view: string; at?: string } | undefined;
  /** Where the program starts, of the paths that only it sees. Default: the folder that it is started in. */
  folder?: string | undefined;
};

/** `input` and `outputs` are paths: for standard input, and for the descriptors from 1 on. */
export type LaunchRequest = {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Only for a launcher that makes namespaces. */
  namespace?: Namespace | undefined;
  input?: string;
  outputs: readonly string[];
};

export type Launcher = {
  start(request: LaunchRequest): Promise<Started>;
  makeFifos(paths: readonly string[]): Promise<void>;
  /** Absent: it only starts programs. */
  mounts?: Mounts;
};

/** Mounts and removals by the process that starts programs. They reject when they are not done. */
export type Mounts = {
  /** Mounts overlayfs. The paths in `options` are relative to `folder`; `target` is absolute. */
  overlay(folder: string, options: string, target: string): Promise<void>;
  /** Also when the mount is in use: then it ends with its last user. */
  unmount(target: string): Promise<void>;
  /** Removes folders with what is in them. Follows no link. */
  remove(paths: readonly string[]): Promise<void>;
};
