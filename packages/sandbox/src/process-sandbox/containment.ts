/**
 * How the processes of a command are held together, so that all of them can be ended. Two ways: a PID namespace of
 * its own, or, where the system has none to give, a process group with a search for what left it.
 */
export interface Containment {
  readonly processes: 'pid-namespace' | 'descendants';
  /** What to spawn, in a session of its own, so that `argv` runs contained with this environment. */
  launch(argv: readonly string[], env: Readonly<Record<string, string>>): Launch;
}

export type Launch = {
  file: string;
  args: string[];
  env: Record<string, string>;
  /** Takes over the started process, named by its pid. */
  contain(pid: number): ContainedTree;
};

/** The processes of one running command. */
export type ContainedTree = {
  /** TERM to each of them. */
  terminate(): Promise<void>;
  /** KILL to each of them. */
  kill(): Promise<void>;
  /** After the started process has ended: ends whatever it left behind. When this resolves, nothing is left. */
  sweep(): Promise<void>;
};
