/**
 * Where tools run (loop spec 4.1, with the operations that `apply_patch` and image reads need). A host implements this
 * interface to run the same tools in a container, over SSH or in a sandbox.
 *
 * Contract for every method:
 * - A path is absolute, or relative to `workingDirectory()`; `/` separates, except where `platform()` is `win32`.
 * - A failed file operation rejects with an `Error` whose `code` is the POSIX name where one applies (`ENOENT`,
 *   `EACCES`, `EISDIR`, …); the tools turn that into a message that the model can act on.
 * - Contents are bytes. Line numbers, encodings and limits are the tools' business.
 */
export interface ExecutionEnvironment {
  /** The folder in which commands start and from which relative paths count. Absolute. */
  workingDirectory(): string;
  /** `linux`, `darwin`, `win32`, `wasm`, … */
  platform(): string;
  osVersion(): string;

  /** Called once, before the first use by a session. */
  initialize?(): Promise<void>;
  /** Stops everything that was started here. Called by whoever owns the environment. */
  cleanup?(): Promise<void>;

  /** The whole content of a regular file. Rejects, rather than wait or read forever, for one that never ends. */
  readBytes(path: string): Promise<Uint8Array>;
  /**
   * The bytes of a regular file from `offset` on: `length` of them, fewer only at its end, none behind it. Optional:
   * where it is absent, tools read large files whole.
   */
  readRange?(path: string, offset: number, length: number): Promise<Uint8Array>;
  /**
   * Writes the whole content of a file, in place where it exists: its owner, permissions and hard links stay. Creates it
   * and its parent folders where it does not; `mode` holds the permission bits of a new file, for example `0o755`.
   */
  writeBytes(path: string, content: Uint8Array, options?: { mode?: number }): Promise<void>;
  /** Removes one file or symbolic link. Rejects for a folder and for what does not exist. */
  remove(path: string): Promise<void>;
  /** Moves a file over whatever file is at `to`, atomically where the file system can. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Makes `to` an empty file with the owner, the permissions and the extended attributes of the file `from`. Resolves to
   * `false` where it cannot keep them all, or where `from` has hard links. Optional: where it is absent or resolves to
   * `false`, tools change an existing file in place, else by a rename of the copy, in one step.
   */
  copyAttributes?(from: string, to: string): Promise<boolean>;
  /** What is at `path`, symbolic links followed; `undefined` where there is nothing. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Creates a folder and its parents; no error where it exists. */
  mkdirp(path: string): Promise<void>;
  /** Removes an empty folder. Optional: where it is absent, a change that is taken back may leave empty folders. */
  removeDirectory?(path: string): Promise<void>;
  /** The canonical path, symbolic links resolved. Rejects with `ENOENT` where there is nothing. */
  realpath(path: string): Promise<string>;
  /** The entries of one folder, in any order, without `.` and `..`. Symbolic links are not followed. */
  listDirectory(path: string): Promise<DirectoryEntry[]>;

  /**
   * Runs a command to its end. A string goes to the environment's shell; a list is an argv without a shell. Resolves for
   * every outcome, including a timeout and an abort, once those have ended all its processes. Rejects only if nothing
   * could be started.
   */
  exec(command: string | readonly string[], options?: ExecOptions): Promise<ExecResult>;

  /**
   * Ends everything that the commands of an owner have left running, as a timeout does. Called with the id of a session
   * when that closes. Optional: where it is absent, such processes end with `cleanup()`.
   */
  endCommandsOf?(owner: string): Promise<void>;

  /**
   * Starts a command that may outlive the call that started it: a server, a watcher, a program that asks questions.
   * Rejects where it could not be started. `cleanup()` ends what still runs. Optional: where it is absent, the tools
   * that need it run commands to their end instead, or say that they cannot.
   */
  start?(command: string | readonly string[], options?: StartOptions): Promise<BackgroundProcess>;

  /**
   * Starts a program by its argv. The host talks to it over its standard streams, as to an MCP server. A program that
   * cannot be started rejects or ends with exit code 127. `cleanup()` ends it. Optional: without it, there are none.
   */
  connect?(command: readonly string[], options: ConnectOptions): Promise<ConnectedProcess>;

  /**
   * A folder outside the project for outputs that are too long for the model, which it may read with its tools. It
   * goes with `cleanup()`. Optional: where it is absent, only the truncated output exists.
   */
  outputDirectory?(): Promise<string>;
}

export type FileStat = {
  kind: 'file' | 'directory' | 'other';
  /** In bytes. */
  size: number;
  /** Last change of the content, milliseconds since the epoch. */
  modifiedMs: number;
  /** Permission bits, where the file system has them. */
  mode?: number;
};

export type DirectoryEntry = { name: string; kind: 'file' | 'directory' | 'symlink' | 'other' };

export type ExecOptions = {
  /** Milliseconds until the process tree gets TERM and, two seconds later, KILL. No limit where absent or 0. */
  timeoutMs?: number;
  /** Ends the process tree as a timeout does, when it has printed nothing for so long. No limit where absent or 0. */
  inactivityTimeoutMs?: number;
  /** Ends the process tree as a timeout does. */
  signal?: AbortSignal;
  /** Defaults to `workingDirectory()`. */
  workingDirectory?: string;
  /** Added to the command's environment, past the environment's filter. */
  env?: Readonly<Record<string, string>>;
  /** For whom the command runs; `endCommandsOf` ends what it leaves running. */
  owner?: string;
  /** Output as it arrives. Must not throw. May see more than the result keeps. */
  onOutput?: (chunk: { stream: 'stdout' | 'stderr'; text: string }) => void;
};

export type ExecResult = {
  /** Decoded as UTF-8. Bounded: of a longer stream the head and the tail are kept, with a line in between that says so. */
  stdout: string;
  stderr: string;
  /** Bytes that the bound dropped from the two streams. 0 where they are whole. */
  droppedBytes: number;
  /** What `stdout` and `stderr` lack of the text that arrived. Absent where they are whole, or nobody counted. */
  dropped?: { characters: number; lines: number };
  /** `undefined` where a signal ended the process. */
  exitCode: number | undefined;
  /** The signal that ended it, for example `SIGKILL`. */
  signal?: string;
  /** One of the two time limits ended it. */
  timedOut: boolean;
  /** With `timedOut`: it was the silence (`inactivityTimeoutMs`), not the time in all. */
  inactive?: boolean;
  aborted: boolean;
  durationMs: number;
  /** A file of the environment with the output that the bound dropped and what came around it, up to 64 MiB. */
  outputFile?: string;
};

export type StartOptions = Pick<ExecOptions, 'workingDirectory' | 'env'> & {
  /** Give the command a terminal. Rejects where the environment has none to give. Default false. */
  terminal?: boolean;
  /** Gets all output as it comes, up to 64 MiB. Created, or emptied, before the command starts. */
  outputFile?: string;
};

export type ConnectOptions = Pick<ExecOptions, 'workingDirectory' | 'env'> & {
  /** Bytes as they come, of any size. Must not throw. */
  onStdout: (chunk: Uint8Array) => void;
  onStderr: (chunk: Uint8Array) => void;
};

/** A program whose output the host reads as it comes. */
export interface ConnectedProcess {
  /** Sends text to its standard input. Rejects when it has exited. */
  write(text: string): Promise<void>;
  /** Ends its process tree as a timeout does. No error where it has ended. */
  kill(): Promise<void>;
  /** Resolves once it has exited and all its output was delivered. Never rejects. */
  readonly ended: Promise<ExitedState>;
}

/** A command that runs beside the session. */
export interface BackgroundProcess {
  /** The number of its leader, where commands of the same environment know it by one. */
  readonly pid?: number;
  /** The output since the last poll. Waits until the command has exited, `waitMs` (default 0) have passed or the signal aborts. */
  poll(options?: { waitMs?: number; signal?: AbortSignal }): Promise<ProcessPoll>;
  /** Sends text to its standard input. Rejects when it has exited. */
  write(text: string): Promise<void>;
  /** Ends its process tree as a timeout does. No error where it has ended. */
  kill(): Promise<void>;
  readonly state: ProcessState;
}

export type ProcessPoll = {
  /** stdout and stderr as they came, decoded as UTF-8, characters whole; bounded like `ExecResult.stdout`. */
  output: string;
  droppedBytes: number;
  state: ProcessState;
};

export type ProcessState = { kind: 'running' } | ExitedState;
/** `exitCode` is absent where a signal ended it. */
export type ExitedState = { kind: 'exited'; exitCode?: number; signal?: string };
