import { present } from '@whetstone/events/present';
import type { CommandResult, RunOptions, Sandbox, SandboxFile } from '@whetstone/sandbox';

/** What holds for the commands of one turn. */
export type TurnRules = {
  /** Ends commands that run when it fires. A command that starts later (to read a transcript) is given `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
  /** For every command; what a command says itself comes first. */
  env: Readonly<Record<string, string>>;
};

/** Per sandbox: an adapter that keeps something about its sandbox must meet the same object in every turn. */
const known = new WeakMap<Sandbox, TurnSandbox>();

/**
 * The sandbox as an adapter gets it for one turn: an adapter that passes no signal on and sets no limit is still ended at
 * the turn's.
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
    // A signal of the adapter's own has most often fired together with the turn's.
    if (signal.aborted) return { ...merged, timeoutMs: Math.min(timeoutMs ?? graceMs, graceMs) };
    return {
      ...merged,
      signal: own ? AbortSignal.any([own, signal]) : signal,
      ...present({ timeoutMs }),
    };
  }
}
