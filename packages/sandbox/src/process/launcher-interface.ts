import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
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
  /** Only for a launcher that has `doors`. Then `hiding` is not used. */
  sealing?: Sealing | undefined;
};

/** A root of its own for the program, which sees nothing else of this machine, and the network of a door. */
export type Sealing = {
  /** The id of an open door. Absent: the network of this machine. */
  door?: number;
  /** Whom the program runs as. Absent: as this process. */
  user?: Owner;
  /** An existing folder that the root is made over. Others do not see it. */
  stage: string;
  root: readonly RootEntry[];
};

/**
 * The paths are absolute. `see` and `use` show a file or folder of this machine, which can be changed only there with `use`;
 * `memory` is a folder in memory for anybody's files.
 */
export type RootEntry =
  | { kind: 'folder' | 'memory'; path: string }
  | { kind: 'see' | 'use' | 'link'; path: string; source: string };

/** A user of this machine by numbers. Nobody has to have them. */
export type Owner = { uid: number; gid: number };

/** `input` and `outputs` are paths: for standard input, and for the descriptors from 1 on. */
export type LaunchRequest = {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Only for a launcher that makes namespaces. */
  namespace?: Namespace | undefined;
  /** Folders of control groups that the program enters first. Only for a launcher that makes namespaces. */
  groups?: readonly string[] | undefined;
  input?: string;
  outputs: readonly string[];
};

export type Launcher = {
  start(request: LaunchRequest): Promise<Started>;
  makeFifos(paths: readonly string[]): Promise<void>;
  /** Absent: it only starts programs. */
  mounts?: Mounts;
  doors?: Doors;
};

/** Network namespaces that nothing leads out of but connections to given ports. */
export type Doors = {
  /**
   * Makes a network namespace. What connects to 127.0.0.1 in it, at one of the ports, is handed to its listener, and
   * `onNames` gets the socket of its resolver, 127.0.0.1:53. `inUserNamespace`: root needs none.
   */
  open(
    ports: ReadonlyMap<number, (socket: Socket) => void>,
    onNames: (resolver: DatagramSocket) => void,
    inUserNamespace: boolean,
  ): Promise<OpenDoor>;
};

export type OpenDoor = { id: number; close(): Promise<void> };

/** Mounts and removals by the process that starts programs. They reject when they are not done. */
export type Mounts = {
  /** Mounts overlayfs. The paths in `options` are relative to `folder`; `target` is absolute. */
  overlay(folder: string, options: string, target: string): Promise<void>;
  /** Also when the mount is in use: then it ends with its last user. */
  unmount(target: string): Promise<void>;
  /** Removes folders with what is in them. Follows no link. */
  remove(paths: readonly string[]): Promise<void>;
};
