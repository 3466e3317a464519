import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Started } from './pending-programs.ts';

/** The paths are absolute. */
export type Namespace = {
  /** Root needs none. Not used with `sealing`: that of its stage counts. */
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
  /** The folder of a stage that was opened. */
  stage: string;
  /** What the program sees beside what the stage has. */
  own: readonly OwnEntry[];
};

/** What all programs of a stage see: a file or folder of this machine, which they cannot change, an empty folder, or a link. */
export type StageEntry =
  | { kind: 'folder'; path: string }
  | { kind: 'see' | 'link'; path: string; source: string };

/**
 * What one program sees: a file or folder of this machine, which it can change with `use`, a link, memory for anybody's
 * files, or the folder of its terminals.
 */
export type OwnEntry =
  | { kind: 'memory' | 'terminals'; path: string }
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
  /**
   * Makes a new folder with named pipes of these paths in it. Where the launcher makes namespaces, it removes what is left of
   * the folder when this process has ended.
   */
  makeFifos(folder: string, paths: readonly string[]): Promise<void>;
  /** Present where the launcher makes namespaces. */
  controlGroups?: ControlGroups;
  /** Absent: it only starts programs. */
  mounts?: Mounts;
  doors?: Doors;
  /**
   * Remembers folders as they are: names, owners, rights, sizes, inodes and change times. Resolves with a function that tells
   * whether they still are so, or cannot be read any more. Rejects where they are not small.
   */
  remember?(folders: readonly string[]): Promise<() => Promise<boolean>>;
};

export type ControlGroups = {
  /**
   * Makes these folders with these settings before any program that is started later. Where that is not possible, it leaves
   * none, and no program starts in them: its start is rejected with the reason. It removes them when this process has ended.
   */
  make(folders: readonly string[], settings: readonly GroupSetting[]): void;
  /** Rejects where one is left, because a process has not quite ended. */
  remove(folders: readonly string[]): Promise<void>;
};

/** `isOptional`: some kernels do not have the file, or refuse the value. */
export type GroupSetting = { file: string; value: string; isOptional?: boolean };

/** Network namespaces that nothing leads out of but connections to given ports. */
export type Doors = {
  /**
   * Mounts once what many programs see. `folder`: an existing one, with which the stage ends. `inUserNamespace`: root needs
   * none.
   */
  openStage(folder: string, entries: readonly StageEntry[], inUserNamespace: boolean): Promise<void>;
  /**
   * Makes a network namespace, or joins one. What connects to 127.0.0.1 in it, at one of the ports, is handed to its
   * listener, and `onNames` gets the socket of its resolver, 127.0.0.1:53.
   */
  open(
    ports: ReadonlyMap<number, (socket: Socket) => void>,
    onNames: (resolver: DatagramSocket) => void,
    place: DoorPlace,
  ): Promise<OpenDoor>;
};

/** `stage`: a new network namespace, in which only programs of that stage can be started. `join`: the path of one, for root. */
export type DoorPlace = { stage: string } | { join: string };

export type OpenDoor = { id: number; close(): Promise<void> };

/** Mounts and removals by the process that starts programs. They reject when they are not done. */
export type Mounts = {
  /** Mounts overlayfs. The paths in `options` are relative to `folder`; `target` is absolute. */
  overlay(folder: string, options: string, target: string): Promise<void>;
  /** Shows the folder `source`, without what is mounted below it, at the folder `target`. */
  bind(source: string, target: string): Promise<void>;
  /**
   * Mounts a file system that is a copy of the one in the file `template`, and as large as it. `image`: the file of the copy,
   * which does not exist yet. `place`: an existing folder that gets its root. `target`: an existing folder that gets an empty
   * folder of it. It takes root and loop devices.
   */
  openDisk(disk: Record<'template' | 'image' | 'place' | 'target', string>): Promise<void>;
  /** Also when the mount is in use: then it ends with its last user. */
  unmount(target: string): Promise<void>;
  /** Rejects where the mount is in use, and leaves it as it is. */
  unmountUnused(target: string): Promise<void>;
  /** Removes folders with what is in them. Follows no link. */
  remove(paths: readonly string[]): Promise<void>;
  /**
   * In one request: ends mounts, as `unmount` does, then both mounts of a file system, and then removes folders. Each of them
   * only after the one before: it rejects where a mount cannot be ended. Resolves with whether nothing is left of the folders.
   */
  clear(request: {
    targets: readonly string[];
    disk?: OpenDisk | undefined;
    folders: readonly string[];
  }): Promise<boolean>;
};

/** `isLarge`: so much was written that its file is not brought up to date before its end. */
export type OpenDisk = Record<'place' | 'target', string> & { isLarge: boolean };
