import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ImageBuild } from './docker/name-of-build.ts';
import type { HostRequest } from './hosts/host-proxy.ts';
import type { Mask } from './mask.ts';
import type { AttackName } from './probe/attacks.ts';
import type { Owner } from './process/launcher-interface.ts';
import type { Limits, Usage } from './process/resource-group.ts';

/**
 * Where commands run: the interface of the adapter reference, with bytes, deadlines, an abort signal and streaming.
 * What a command starts ends with the command: when `runCommand` settles, none of its processes is left.
 */
export interface Sandbox extends AsyncDisposable {
  readonly provider: string;
  /** The workspace, as commands see it. */
  readonly workdir: string;
  /** The sandbox's own home directory, as commands see it. */
  readonly home: string;
  /**
   * Absent: commands see the files of this machine as its user does. Else these folders of it, by their paths here, and the
   * system's programs.
   */
  readonly folders?: readonly string[];
  /** Where a path that commands see lies on this machine. The path itself unless the sandbox was started with `at`. */
  hostPath(path: string): string;
  /** The path at which commands see a path of this machine. The path itself unless the sandbox was started with `at`. */
  seenPath(path: string): string;
  /** The folder of commands without a `cwd`, and the start of a relative `cwd`. At first it is `workdir`. */
  getWorkingDirectory(): string;
  /** Absolute, or relative to `workdir`. Relative paths of files still start at `workdir`. */
  setWorkingDirectory(path: string): void;
  /** Runs one program without a shell. Rejects only if it cannot be started or if its output cannot be written. */
  runCommand(command: string, args?: string[], options?: RunOptions): Promise<CommandResult>;
  /** Runs a script with `/bin/sh`. */
  runShell(script: string, options?: RunOptions): Promise<CommandResult>;
  /** Reads a file as UTF-8. A relative path starts at `workdir`, `~/` is `home`. */
  readFile(path: string): Promise<string>;
  readBytes(path: string): Promise<Buffer>;
  /** Writes files and creates their parents. Keys are paths. */
  writeFiles(files: Record<string, string>): Promise<void>;
  uploadFiles(files: SandboxFile[]): Promise<void>;
  /**
   * The names that its commands asked a resolver for, where it has one of its own, which knows none: each once, in lower
   * case, at most 200. `undefined`: nobody saw.
   */
  namesAsked(): readonly string[] | undefined;
  /** What its commands asked the proxy of listed hosts for. `undefined`: no host is listed, or nobody saw. */
  hostRequests(): readonly HostRequest[] | undefined;
  /** What its commands have used together until now, or until it was stopped. */
  usage(): Usage;
  /** Ends every command that still runs and removes what the sandbox made (home, temporary files). Idempotent. */
  stop(): Promise<void>;
}

export type SandboxFile = { path: string; content: Uint8Array | string /** Default 0o644. */; mode?: number };

export type RunOptions = {
  /** Merged over the sandbox's own environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** Runs the command as root. The `process` provider cannot change the user: it needs to run as root itself. Others refuse. */
  root?: boolean;
  /** Milliseconds of wall-clock time. Then the whole tree gets TERM and, two seconds later, KILL. Default: no limit. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /**
   * The command has the network of this machine, or reaches the `setupHosts` of the provider where it has any. Default: the
   * network of the sandbox. For commands that no agent chose.
   */
  network?: 'open' | undefined;
  /**
   * Variables of `env` that name files or folders of this machine, or `file:` addresses. The command can read these, and no
   * other command of the sandbox can: where commands see another machine or are another user, it gets copies of the files,
   * which go with it, and sees the folders read-only. Not lent: a folder in which the user's HOME or the system is.
   */
  lend?: readonly string[] | undefined;
  /** What the command reads from its standard input. Default: nothing. */
  stdin?: Readable;
  /** Called once when the command has been started. */
  onStart?: () => void;
  /** Called with bytes as they arrive. Must not throw. */
  onStdout?: (chunk: Buffer) => void;
  onStderr?: (chunk: Buffer) => void;
  /** Files to which the output is appended, up to `fileLimitBytes` each (default 64 MiB). */
  stdoutFile?: string;
  stderrFile?: string;
  fileLimitBytes?: number;
  /** Applied to callbacks, files and the text of the result. Byte counts are those before masking. */
  mask?: Mask;
};

export type CommandResult = {
  /** UTF-8: at most the first and the last MiB, with a line between them that says how many bytes are missing. */
  stdout: string;
  stderr: string;
  /** 127 if the program was not found, 126 if it could not be run, 128 + n if signal n ended it. */
  exitCode: number;
  stdoutBytes: number;
  stderrBytes: number;
  durationMs: number;
  /** Why it ended: by itself, at the deadline, or by the abort signal. */
  ended: 'exit' | 'timeout' | 'abort';
};

export type SandboxOptions = {
  workdir: string;
  /** An existing home folder that belongs to the caller, in the folder around `workdir`. Default: a new one. */
  home?: string;
  /**
   * An absolute path at which commands see the folder around `workdir`, whatever its own path is: they start there, and HOME
   * and TMPDIR are below it. Only where neighbours are hidden. Default: commands see the paths of this machine only.
   */
  at?: string;
  /** Smaller ones than those of the provider, for the limits that it has. Default: those. */
  limits?: Limits;
  /** Variables in addition to the scrubbed environment. */
  env: Record<string, string>;
  /**
   * Where commands have no network of this machine: what connects to 127.0.0.1 at one of these ports is handed to its
   * listener. Nothing else can be reached. Elsewhere they reach every port anyway. Default: none.
   */
  doors?: ReadonlyMap<number, (socket: Socket) => void>;
};

/** Where commands run that are in containers. */
export type ContainerOptions = {
  /** The name of an image, with /bin/sh and cat. It is built or pulled if the engine has none of that name. */
  image: string;
  /** What it is built of; `image` is its `nameOfBuild` then. Default: it is pulled. */
  build?: ImageBuild;
  /** A runtime by the name that the engine knows, such as `kata`. Default: the engine's. */
  runtime?: string;
  /** The path of the engine's socket. Default: that of `DOCKER_HOST`, Docker's own, or Podman's. */
  socket?: string;
};

/** A way to make sandboxes. `describe` goes into the manifest. */
export interface SandboxProvider {
  readonly name: string;
  /** To whom files belong that commands may change, if not to the user of this process. */
  readonly owner?: Owner;
  /** `false`: commands see every folder at its own path, and `at` is refused. Default: `at` works where neighbours are hidden. */
  readonly movesTrees?: false;
  /** The isolation that this machine really provides, for the manifest and every report. */
  describe(): Promise<SandboxLevel>;
  start(options: SandboxOptions): Promise<Sandbox>;
}

export type SandboxLevel = {
  provider: string;
  /**
   * A step of the isolation ladder. 0 is for trusted agents only: HOME and TMP are its own, the environment is
   * scrubbed.
   */
  level: 0 | 1 | 2 | 3;
  /** How a process tree is held together: by a PID namespace, or by a search for descendants. */
  processes: 'pid-namespace' | 'descendants';
  /**
   * Whether a command sees what else is in the scratch folder. Where they are hidden, a workspace `SCRATCH/ANY/NAME` has
   * only its own folder `ANY` in it, and no command can write beside that.
   */
  neighbours: 'hidden' | 'visible';
  network: 'open' | 'gateway-only' | 'gateway-and-hosts' | 'none';
  /** What else commands reach: names of hosts, as they were listed. Absent: none was. */
  hosts?: readonly string[];
  /** What commands that no agent chose reach beside these. Absent: they have the network of this machine. */
  setupHosts?: readonly string[];
  /** Of all commands of a sandbox together, as far as this machine enforces them. */
  limits: Limits;
  /** The container that commands run in. `digest`: of the image at its registry; `null`: it was made on this machine. */
  container?: { name: string; id: string; digest: string | null; runtime: string | null };
  /** At level 0: what a command can do to this machine, as docs/security.md has it. Not tried here. */
  reachable?: AttackName[];
};
