import type { OverlayOperation } from '../config/config.ts';
import type { DiskUsage } from './case-disk.ts';
import type { NewEntry } from './edit-tree.ts';
import type { PlacedInstructions, VariantInstructions } from './place-instructions.ts';

/**
 * Disposable workspaces. A commit plus the overlays of a variant becomes a directory in which an agent may do anything;
 * afterwards the host finds what changed. The user's repository is only read.
 */
export interface Workspaces extends AsyncDisposable {
  /** How a workspace gets its tree: a layered mount, a copy-on-write clone, or a copy. Chosen once and recorded. */
  readonly strategy: WorkspaceStrategy;
  /** What each workspace may take of the disk, with all that is beside it; `null`: nothing limits it. */
  readonly diskBytes: number | null;
  /**
   * Prepares the tree at `commit` with the overlays applied, and last the instructions, once per commit, overlays and
   * instructions. Its `.git` has one commit and no history, and nothing else of the user's repository can be reached
   * from it.
   */
  prepare(
    commit: string,
    overlays: OverlayOperation[],
    instructions?: VariantInstructions,
  ): Promise<Snapshot>;
  /**
   * The same tree with the files of a prepared environment, which are only read: each workspace gets them as they are. Where
   * the tree has a file of its own at a path, that one stays.
   */
  equip(snapshot: Snapshot, environment: EnvironmentLayer): Promise<Snapshot>;
  /**
   * Writes the files of a snapshot whose display path `keep` accepts into a folder, with a `.git` that has them in one
   * commit. With `changes`, of a workspace of the snapshot that still exists, files are as these left them.
   */
  extract(
    snapshot: Snapshot,
    folder: string,
    keep: (path: string) => boolean,
    changes?: Pick<Changes, 'files' | 'contents'>,
  ): Promise<void>;
  create(snapshot: Snapshot): Promise<Workspace>;
  /**
   * A path of what was changed, added or removed in the trees that workspaces of this snapshot start from, its environment
   * included, since they were made; `undefined`: nothing was.
   */
  broken(snapshot: Snapshot): Promise<string | undefined>;
}

/** What the `prepare` commands of an environment made, in two folders that nothing writes to any more. */
export type EnvironmentLayer = {
  /** Tells apart environments that were prepared from different inputs. */
  key: string;
  /** Absolute. Its files lie where they belong in the tree; the inputs are among them, with their times. */
  tree: string;
  /** Absolute: what is in HOME. */
  home: string;
  /** Where commands see the folder around the tree, as they did in the preparation. Absent: where it is. */
  at?: string;
};

export type WorkspaceStrategy = 'mount' | 'reflink' | 'copy';

/** An immutable prepared tree. */
export interface Snapshot {
  readonly commit: string;
  readonly entries: TreeEntries;
  /** The only commit of its `.git`. */
  readonly sealedCommit: string;
  readonly notes: SnapshotNotes;
  /** Display paths of its instruction files, those of folders below included. */
  readonly instructionFiles: readonly string[];
  /** Present after `equip`. */
  readonly environment?: EquippedEnvironment;
  /** Where the instructions are, if there are any, and what of the repository's own they hide. */
  readonly placed?: Pick<PlacedInstructions, 'path' | 'hides'>;
}

export type EquippedEnvironment = Pick<EnvironmentLayer, 'key' | 'at'> & {
  /** Byte paths of the environment's files and whole folders, where the tree has nothing. */
  roots: ReadonlySet<string>;
  /** The snapshot without the environment. */
  bare: Snapshot;
  /** How long it took to copy the environment; 0 where it is a layer of a mount. */
  copySeconds: number;
};

/** Path (bytes as a latin1 string, so that any file name is kept; separated by `/`) → entry. */
export type TreeEntries = ReadonlyMap<string, TreeEntry>;
export type TreeEntry = {
  /** The modes of git. */
  mode: '100644' | '100755' | '120000' | '160000';
  /** The blob id of the content; for a symlink, of its target. */
  oid: string;
};

/** What a reader of the result should know about the tree at the commit. Paths are for display. */
export type SnapshotNotes = { submodules: string[]; lfsPointers: string[] };

export interface Workspace extends AsyncDisposable {
  /**
   * Absolute path of the tree. It shows nothing of task, variant or trial. The folder around it is a folder of the scratch
   * folder, belongs to this workspace and is removed with it.
   */
  readonly path: string;
  readonly snapshot: Snapshot;
  /** What a sandbox of this workspace has to be started with, besides `path`. */
  readonly place: { home?: string; at?: string };
  /** What it and all that is beside it have taken of the disk, looked at now as well; `undefined`: nobody measured. */
  disk(): DiskUsage | undefined;
  /**
   * Makes the present state the base of `changes()`, `apply()` and `restore()`, so that what `setup` commands made
   * does not count as work of the agent. The patch then applies to a tree in which the same setup has run.
   */
  rebase(): Promise<void>;
  /**
   * What changed since the base, by content, from outside. Call it when nothing runs in the workspace any more. `lends`: whether
   * nobody reads its tree from now on but `apply` and its own functions, which then may mount it again.
   * @throws WhetstoneError `changes-too-large`: more than 1 GiB in a file, 2 GiB in all, or 250,000 paths.
   */
  changes(options?: { lends?: boolean }): Promise<Changes>;
  /**
   * Applies changes of another workspace of the same snapshot: each file gets its whole new content. Follows no
   * symlink. `keep` decides per display path, for both paths of a rename; what it refuses stays at the base. Nothing may run
   * in either workspace. Where the changes are lent, very many new files are seen and not copied.
   */
  apply(changes: Changes, keep?: (path: string) => boolean): Promise<void>;
  /** Copies a folder, such as hidden tests, over the tree, without the display paths of `leftOut`. Never follows a symlink in the tree. */
  lay(folder: string, leftOut?: ReadonlySet<string>): Promise<void>;
  /**
   * Makes the tree what a folder holds: lays the folder over it, and removes what only the tree has, unless `keep` accepts its
   * display path. The files of the environment stay. Never follows a symlink in the tree.
   */
  become(folder: string, keep: (path: string) => boolean): Promise<void>;
  /** Writes texts over files of the tree, by display path, with their modes of the base. Never follows a symlink in the tree. */
  write(texts: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Restores every path whose display path `matches` accepts to the base, or removes it where the base does not have
   * it, including special files and nested `.git` folders. Resolves with the display paths of what was restored.
   */
  restore(matches: (path: string) => boolean): Promise<string[]>;
}

export interface Changes {
  /** Sorted by path bytes. */
  readonly files: readonly FileChange[];
  readonly insertions: number;
  readonly deletions: number;
  /** For `git apply --binary` on the base tree, in bytes; empty without changes. Removed with the workspace. */
  readonly patchFile: string;
  readonly patchBytes: number;
  /** The tree that was compared. `apply` reads the new contents there and checks them against `FileChange.oid`. */
  readonly tree: string;
  /** Absent: `apply` copies every file. */
  readonly lend?: Lend;
  /** A git directory with the new contents by `FileChange.oid`, removed with the workspace. */
  readonly contents: string;
  /** Display paths of what no patch can hold: device nodes, sockets, nested `.git` folders. */
  readonly unportable: readonly string[];
  /**
   * Display paths of what changed in the prepared environment, at most 200 of them. It is in no patch. `null`: nothing shows
   * it, because the environment is a copy. Absent: there is no environment.
   */
  readonly environment?: readonly string[] | null;
}

/** A layer with folders of a tree. `has`: whether a path of the tree is in one of them. */
export type Lent = { layer: string; has(path: string): boolean };

/**
 * Lends the new folders of a tree that no layer of `below` has and that hold exactly files of `written`, as new ones would be.
 * Resolves with nothing where there are few such files, or the tree is in use: then each file has to be copied.
 */
export type Lend = (written: readonly NewEntry[], below: readonly string[]) => Promise<Lent | undefined>;

export type FileChange = {
  /** For display: as UTF-8 where it is valid, else with `\xNN` escapes. */
  path: string;
  /** The exact bytes of the path, as a latin1 string. */
  bytes: string;
  change: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  /** The old path of a rename, for display. */
  from?: string;
  fromBytes?: string;
  /** The mode and the blob id after the change; absent for a deletion. */
  mode?: TreeEntry['mode'];
  oid?: string;
  binary: boolean;
  insertions: number;
  deletions: number;
};
