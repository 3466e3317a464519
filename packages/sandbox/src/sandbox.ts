import type { Readable } from 'node:stream';
import type { Mask } from './mask.ts';

/**
 * Where commands run. The interface of the adapter reference, plus bytes, deadlines, an abort signal and streaming.
 * What a command starts ends with it: when `runCommand` settles, no process of it is left.
 */
export interface Sandbox extends AsyncDisposable {
  readonly provider: string;
  /** The workspace, as commands see it. */
  readonly workdir: string;
  /** The sandbox's own home directory, as commands see it. */
  readonly home: string;
  /** Where commands run that name no `cwd`, and what a relative `cwd` starts at. At first `workdir`. */
  getWorkingDirectory(): string;
  /** Absolute, or relative to `workdir`. Changes nothing for files, whose relative paths start at `workdir`. */
  setWorkingDirectory(path: string): void;
  /** Runs one program; no shell sees the arguments. Rejects only when the command could not be started, or its output not be written. */
  runCommand(command: string, args?: string[], options?: RunOptions): Promise<CommandResult>;
  /** Runs a script with `/bin/sh`. */
  runShell(script: string, options?: RunOptions): Promise<CommandResult>;
  /** Reads a file as UTF-8. Relative paths are relative to `workdir`, `~/` to `home`. */
  readFile(path: string): Promise<string>;
  readBytes(path: string): Promise<Buffer>;
  /** Writes files; parents are created. Keys are paths. */
  writeFiles(files: Record<string, string>): Promise<void>;
  uploadFiles(files: SandboxFile[]): Promise<void>;
  /** Ends every command that still runs and removes what the sandbox made (home, temporary files). Idempotent. */
  stop(): Promise<void>;
}

export type SandboxFile = { path: string; content: Uint8Array | string /** Default 0o644. */; mode?: number };

export type RunOptions = {
  /** Merged over the sandbox's own environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** As root. The `process` provider cannot change the user and refuses `true` unless it is root already. */
  root?: boolean;
  /** Wall clock; then TERM to the whole tree, 2 s, KILL. Default: none. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** What the command reads from its standard input. Default: nothing. */
  stdin?: Readable;
  /** Called once when the command has been started. */
  onStart?: () => void;
  /** Called with bytes as they arrive. Must not throw. */
  onStdout?: (chunk: Buffer) => void;
  onStderr?: (chunk: Buffer) => void;
  /** Files that get the whole output, up to `fileLimitBytes` each (default 64 MiB), behind what they hold already. */
  stdoutFile?: string;
  stderrFile?: string;
  fileLimitBytes?: number;
  /** Applied to everything that comes out: callbacks, files and the result's text. Byte counts are from before it. */
  mask?: Mask;
};

export type CommandResult = {
  /** UTF-8; at most 1 MiB of head and 1 MiB of tail, with a line between that says how many bytes are missing. */
  stdout: string;
  stderr: string;
  /** 128 + n when signal n ended it; 127 when the program was not found, 126 when it could not be run. */
  exitCode: number;
  stdoutBytes: number;
  stderrBytes: number;
  durationMs: number;
  /** Why it ended: by itself, by our deadline, or by the abort signal. */
  ended: 'exit' | 'timeout' | 'abort';
};

export type SandboxOptions = {
  workdir: string;
  /** Environment on top of the scrubbed one. */
  env: Record<string, string>;
};

/** A way to make sandboxes. `describe` goes into the manifest. */
export interface SandboxProvider {
  readonly name: string;
  /** What isolation this machine really gives, for the manifest and every report. */
  describe(): Promise<SandboxLevel>;
  start(options: SandboxOptions): Promise<Sandbox>;
}

export type SandboxLevel = {
  provider: string;
  /** 0: own HOME and TMP, scrubbed environment, whole tree killed: for trusted agents only (the isolation ladder). */
  level: 0 | 1 | 2 | 3;
  /** How a process tree is held together: a PID namespace, or a walk of the descendants. */
  processes: 'pid-namespace' | 'descendants';
  network: 'open' | 'gateway-only' | 'none';
};
