import type { Readable } from 'node:stream';
import type { StartedProgram } from '../process/launcher.ts';
import type { Namespace, OwnEntry } from '../process/launcher-interface.ts';

/**
 * How the processes of a command are held together, so that all of them can be ended. There are two ways: a PID
 * namespace for each command or, if the system allows none, a process group with a search for what left the group.
 */
export interface Containment {
  readonly processes: 'pid-namespace' | 'descendants';
  /** Whether `launch` can hide the neighbours of a folder. */
  readonly canHide: boolean;
  /** Copies of files, for one command. Absent: commands read the files themselves. */
  lend?(files: Readonly<Record<string, string>>): Promise<Lent>;
  /** What to spawn, in a session of its own, so that `argv` runs contained with this environment. */
  launch(
    argv: readonly [string, ...string[]],
    env: Readonly<Record<string, string>>,
    place?: LaunchPlace,
  ): Launch;
}

/** `folder`: where the command starts, as it sees it. Default: where it is spawned. */
export type LaunchPlace = {
  hiding?: Hiding | undefined;
  folder?: string | undefined;
  /** The command has the network of this machine, even where others of the sandbox do not. */
  network?: 'open' | undefined;
  lent?: Lent | undefined;
};

/** `env` names the copies as the command sees them. Disposing removes them. */
export type Lent = AsyncDisposable & { env: Record<string, string>; entries: readonly OwnEntry[] };

/** `view` is a folder with nothing but empty folders of the names of `own` and `at`, as far as these are in `common`. */
export type Hiding = NonNullable<Namespace['hiding']>;

export type Launch = {
  file: string;
  args: string[];
  env: Readonly<Record<string, string>>;
  /** Made by the process that starts the program. */
  namespace?: Namespace;
  /** Takes over the process that was started, by its id. */
  contain(pid: number): ContainedTree;
};

/** What runs commands elsewhere than below this process, such as in containers. */
export interface CommandRunner {
  /** As that of a containment. */
  lend(files: Readonly<Record<string, string>>): Promise<Lent>;
  /** Starts `argv` with this environment. `folder`: where it starts, as it sees it. */
  run(command: {
    argv: readonly [string, ...string[]];
    env: Readonly<Record<string, string>>;
    folder: string;
    network: 'open' | undefined;
    lent: Lent | undefined;
    stdin: Readable | undefined;
  }): Promise<RunningCommand>;
}

/** `report`: what a launcher reports. The tree is settled when `tree.sweep` has resolved. */
export type RunningCommand = Omit<StartedProgram, 'pid'> & { tree: ContainedTree };

/** The processes of one running command: `terminate` sends TERM to each of them, `kill` sends KILL. */
export type ContainedTree = {
  terminate(): Promise<void>;
  kill(): Promise<void>;
  /** Called after the started process has ended: ends whatever it left behind. Nothing is left when it resolves. */
  sweep(): Promise<void>;
};
