import { present } from '@whetstone/events/present';
import type { CommandResult, RunOptions, Sandbox, SandboxFile } from '@whetstone/sandbox';

/** The limits and the environment of the commands of one turn. */
export type TurnRules = {
  /** Ends running commands when it fires. A command that starts later, for example to read a transcript, gets `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
  /** For every command. The variables of a command override it. */
  env: Readonly<Record<string, string>>;
};

/** By sandbox: an adapter may use the sandbox object as a key, so every turn must get the same object. */
const known = new WeakMap<Sandbox, TurnSandbox>();

/**
 * The sandbox that an adapter gets for one turn. Commands end at the time limit of the turn, even when the adapter passes
 * neither a signal nor a limit.
 */
export function sandboxForTurn(sandbox: Sandbox, rules: TurnRules): Sandbox {
  const existing = known.get(sandbox);
  if (existing) {
    existing.rules = rules;
    return existing;
  }
  const created = new TurnSandbox(sandbox, rules);
  known.set(sandbox, created);
  return created;
}

class TurnSandbox implements Sandbox {
  rules: TurnRules;
  readonly #sandbox: Sandbox;

  constructor(sandbox: Sandbox, rules: TurnRules) {
    this.#sandbox = sandbox;
    this.rules = rules;
  }

  get provider(): string {
    return this.#sandbox.provider;
  }

  get workdir(): string {
    return this.#sandbox.workdir;
  }

  get home(): string {
    return this.#sandbox.home;
  }

  getWorkingDirectory(): string {
    return this.#sandbox.getWorkingDirectory();
  }

  setWorkingDirectory(path: string): void {
    this.#sandbox.setWorkingDirectory(path);
  }

  runCommand(command: string, args?: string[], options?: RunOptions): Promise<CommandResult> {
    return this.#sandbox.runCommand(command, args, this.#ruled(options));
  }

  runShell(script: string, options?: RunOptions): Promise<CommandResult> {
    return this.#sandbox.runShell(script, this.#ruled(options));
  }

  readFile(path: string): Promise<string> {
    return this.#sandbox.readFile(path);
  }

  readBytes(path: string): Promise<Buffer> {
    return this.#sandbox.readBytes(path);
  }

  writeFiles(files: Record<string, string>): Promise<void> {
    return this.#sandbox.writeFiles(files);
  }

  uploadFiles(files: SandboxFile[]): Promise<void> {
    return this.#sandbox.uploadFiles(files);
  }

  stop(): Promise<void> {
    return this.#sandbox.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #ruled(options: RunOptions = {}): RunOptions {
    const { signal: own, timeoutMs, ...rest } = options;
    const { signal, graceMs, env } = this.rules;
    const merged = { ...rest, env: { ...env, ...options.env } };
    // A signal of the adapter has usually fired together with that of the turn, and would end this command at once.
    if (signal.aborted) return { ...merged, timeoutMs: Math.min(timeoutMs ?? graceMs, graceMs) };
    return {
      ...merged,
      signal: own ? AbortSignal.any([own, signal]) : signal,
      ...present({ timeoutMs }),
    };
  }
}
