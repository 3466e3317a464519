import type { CaseDisk } from './case-disk.ts';
import type { WorkspaceStrategy } from './workspace.ts';

/** How a directory gets a tree that may be changed without changing the tree it came from. */
export type Placement = AsyncDisposable & {
  strategy: WorkspaceStrategy;
  /** `layers`: the uppermost first. `target` and `backing`, which is for the placement itself, do not exist yet. */
  place(layers: readonly string[], target: string, backing: string): Promise<PlacedTree>;
  /** Ends the mounts of trees and of a disk, then removes folders below the scratch folder, in whatever state an agent left them. */
  remove(folders: readonly string[], trees: readonly PlacedTree[], disk: CaseDisk | undefined): Promise<void>;
};

export type PlacedTree = {
  path: string;
  /** The folder that holds every change to the tree and nothing else. Only layered mounts have one. */
  upper?: string;
  /**
   * Ends the mount, calls `between`, and mounts again with these layers below what was written. Resolves with whether: a mount
   * that something uses stays as it is. Only layered mounts have it.
   */
  mountAgain?(layers: readonly string[], between?: () => Promise<void>): Promise<boolean>;
  /** Ends the mount, if there is one. What was written stays in `layers`. */
  detach(): Promise<void>;
  /** The layers of this tree as it is now, for another `place`. Valid after `detach`. */
  layers: readonly string[];
};
