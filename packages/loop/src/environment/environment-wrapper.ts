import { wrapEnvironment } from './environment-root.ts';
import type {
  BackgroundProcess,
  ConnectedProcess,
  ConnectOptions,
  DirectoryEntry,
  ExecOptions,
  ExecResult,
  ExecutionEnvironment,
  FileStat,
  StartOptions,
} from './execution-environment.ts';

type Command = string | readonly string[];

/** One use of an environment. Paths and commands are as they were given. */
export type EnvironmentOperation =
  | {
      method: 'readBytes' | 'remove' | 'removeDirectory' | 'stat' | 'mkdirp' | 'realpath' | 'listDirectory';
      path: string;
    }
  | { method: 'writeBytes'; path: string; bytes: number }
  | { method: 'rename' | 'copyAttributes'; path: string; to: string }
  | { method: 'exec' | 'start' | 'connect'; command: Command };

/**
 * An environment around another one (loop spec 4.4), for a host to extend. Implement `around`: it is called for each
 * operation, and calls `run` or throws. Wrappers stack. Files, file locks and lifecycle are those of the innermost
 * environment.
 */
export abstract class EnvironmentWrapper implements ExecutionEnvironment, AsyncDisposable {
  protected readonly inner: ExecutionEnvironment;
  readonly readRange?: (path: string, offset: number, length: number) => Promise<Uint8Array>;
  readonly removeDirectory?: (path: string) => Promise<void>;
  readonly copyAttributes?: (from: string, to: string) => Promise<boolean>;
  readonly endCommandsOf?: (owner: string) => Promise<void>;
  readonly start?: (command: Command, options?: StartOptions) => Promise<BackgroundProcess>;
  readonly connect?: (command: readonly string[], options: ConnectOptions) => Promise<ConnectedProcess>;
  readonly outputDirectory?: () => Promise<string>;

  constructor(inner: ExecutionEnvironment) {
    this.inner = inner;
    wrapEnvironment(this, inner);
    const readRange = inner.readRange?.bind(inner);
    if (readRange)
      this.readRange = (path, offset, length) =>
        this.around({ method: 'readBytes', path }, () => readRange(path, offset, length));
    const removeDirectory = inner.removeDirectory?.bind(inner);
    if (removeDirectory)
      this.removeDirectory = (path) =>
        this.around({ method: 'removeDirectory', path }, () => removeDirectory(path));
    const copyAttributes = inner.copyAttributes?.bind(inner);
    if (copyAttributes)
      this.copyAttributes = (path, to) =>
        this.around({ method: 'copyAttributes', path, to }, () => copyAttributes(path, to));
    const start = inner.start?.bind(inner);
    if (start)
      this.start = (command, options) =>
        this.around({ method: 'start', command }, () => start(command, options));
    const connect = inner.connect?.bind(inner);
    if (connect)
      this.connect = (command, options) =>
        this.around({ method: 'connect', command }, () => connect(command, options));
    const endCommandsOf = inner.endCommandsOf?.bind(inner);
    if (endCommandsOf) this.endCommandsOf = endCommandsOf;
    const outputDirectory = inner.outputDirectory?.bind(inner);
    if (outputDirectory) this.outputDirectory = outputDirectory;
  }

  protected abstract around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T>;

  workingDirectory(): string {
    return this.inner.workingDirectory();
  }

  platform(): string {
    return this.inner.platform();
  }

  osVersion(): string {
    return this.inner.osVersion();
  }

  async initialize(): Promise<void> {
    await this.inner.initialize?.();
  }

  async cleanup(): Promise<void> {
    await this.inner.cleanup?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }

  readBytes(path: string): Promise<Uint8Array> {
    return this.around({ method: 'readBytes', path }, () => this.inner.readBytes(path));
  }

  writeBytes(path: string, content: Uint8Array, options?: { mode?: number }): Promise<void> {
    return this.around({ method: 'writeBytes', path, bytes: content.length }, () =>
      this.inner.writeBytes(path, content, options),
    );
  }

  remove(path: string): Promise<void> {
    return this.around({ method: 'remove', path }, () => this.inner.remove(path));
  }

  rename(from: string, to: string): Promise<void> {
    return this.around({ method: 'rename', path: from, to }, () => this.inner.rename(from, to));
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.around({ method: 'stat', path }, () => this.inner.stat(path));
  }

  mkdirp(path: string): Promise<void> {
    return this.around({ method: 'mkdirp', path }, () => this.inner.mkdirp(path));
  }

  realpath(path: string): Promise<string> {
    return this.around({ method: 'realpath', path }, () => this.inner.realpath(path));
  }

  listDirectory(path: string): Promise<DirectoryEntry[]> {
    return this.around({ method: 'listDirectory', path }, () => this.inner.listDirectory(path));
  }

  exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    return this.around({ method: 'exec', command }, () => this.inner.exec(command, options));
  }
}
