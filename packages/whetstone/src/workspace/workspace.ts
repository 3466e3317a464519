import type { OverlayOperation } from '../config/config.ts';

/**
 * Disposable workspaces: a commit plus a variant's overlays becomes a directory that an agent may do anything to;
 * afterwards the host says what changed. The user's repository is only ever read.
 */
export interface Workspaces extends AsyncDisposable {
  /** How a workspace gets its tree: a layered mount, a copy-on-write clone, or a copy. Chosen once and recorded. */
  readonly strategy: WorkspaceStrategy;
  /**
   * The tree at `commit` with the overlays applied, prepared once for each pair and then shared: its own `.git` holding
   * one commit, no history, nothing of the user's repository reachable from it.
   */
  prepare(commit: string, overlays: OverlayOperation[]): Promise<Snapshot>;
  /** A fresh workspace over a snapshot. */
  create(snapshot: Snapshot): Promise<Workspace>;
}

export type WorkspaceStrategy = 'mount' | 'reflink' | 'copy';

/** An immutable prepared tree. */
export interface Snapshot {
  readonly commit: string;
  /** What the tree holds, by path (a byte string in latin1, so that any file name is kept). */
  readonly entries: TreeEntries;
  readonly notes: SnapshotNotes;
}

/** Path (latin1 byte string, `/` separated) → what is there. */
export type TreeEntries = ReadonlyMap<string, TreeEntry>;
export type TreeEntry = {
  /** Git's own modes. */
  mode: '100644' | '100755' | '120000' | '160000';
  /** Git's blob id of the content (of the target for a symlink). */
  oid: string;
};

/** What a reader of the result should know about the tree at the commit. Paths are for display. */
export type SnapshotNotes = { submodules: string[]; lfsPointers: string[] };

export interface Workspace extends AsyncDisposable {
  /** Absolute path of the tree. Says nothing of task, variant or trial. */
  readonly path: string;
  readonly snapshot: Snapshot;
  /**
   * Takes the present state as the base of `changes()`, `apply()` and `restore()`: what `setup` commands made is not
   * the agent's doing. The patch of a rebased workspace applies to a tree in which the same setup has run; a path that
   * setup left alone reads the same with and without it.
   */
  rebase(): Promise<void>;
  /** What changed since the base, compared by content from outside. Call when nothing runs in it any more. */
  changes(): Promise<Changes>;
  /**
   * Lays changes of another workspace of the same snapshot over this one: each file gets its whole new content. Never
   * follows a symlink, never leaves the tree. `keep` decides by display path (both paths of a rename, each for itself);
   * what it refuses is left at the base.
   */
  apply(changes: Changes, keep?: (path: string) => boolean): Promise<void>;
  /** Copies a folder over the tree (hidden tests), replacing what is there. Never follows a symlink in the tree. */
  lay(folder: string): Promise<void>;
  /**
   * Puts every path for which `matches` says yes (by display path) back to the base: restored, or removed where it was
   * not there, special files and nested `.git` folders included. Resolves with what was put back, for display.
   */
  restore(matches: (path: string) => boolean): Promise<string[]>;
}

export interface Changes {
  /** Sorted by path bytes. */
  readonly files: readonly FileChange[];
  readonly insertions: number;
  readonly deletions: number;
  /**
   * A file with the patch that `git apply --binary` applies to the base tree (empty when nothing changed). Bytes:
   * contents are not assumed to be text. Copy it to keep it: it goes with the workspace.
   */
  readonly patchFile: string;
  readonly patchBytes: number;
  /** The tree that was compared; `apply` reads the new contents there and checks them by `FileChange.oid`. */
  readonly tree: string;
  /** A git directory that holds the new contents by `FileChange.oid`. It goes with the workspace, as the tree does. */
  readonly contents: string;
  /** Things in the tree that no patch can carry (device nodes, sockets, nested `.git` folders), for display. */
  readonly unportable: readonly string[];
}

export type FileChange = {
  /** For display: UTF-8 where it is, else with `\xNN` escapes. */
  path: string;
  /** The exact bytes of the path, latin1. */
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
