import { present } from '@whetstone/events/present';
import { type EnvironmentOperation, EnvironmentWrapper } from './environment-wrapper.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';

/**
 * Writes a line in front of each command and change, and one behind it with what came of it. `reads: true` takes in what
 * only looks. A command is logged as it is: a host whose commands carry secrets wants another log.
 */
export class LoggingExecutionEnvironment extends EnvironmentWrapper {
  readonly #log: (line: string) => void;
  readonly #reads: boolean;

  constructor(inner: ExecutionEnvironment, log: (line: string) => void, options: { reads?: boolean } = {}) {
    super(inner);
    this.#log = log;
    this.#reads = options.reads ?? false;
  }

  protected override async around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T> {
    if (!this.#reads && !changes(operation)) return await run();
    const started = performance.now();
    this.#log(`${operation.method}: ${subject(operation)}`);
    const ended = (outcome: string) =>
      this.#log(`${operation.method} ${outcome} in ${Math.round(performance.now() - started)} ms`);
    try {
      const result = await run();
      ended(describeOutcome(result));
      return result;
    } catch (error) {
      ended(`failed (${messageOf(error)})`);
      throw error;
    }
  }
}

export type ReadOnlyOptions = {
  /** Which commands may run: nothing can tell by its looks that a command does not write. Default: none. */
  allowCommand?: (command: string | readonly string[]) => boolean;
};

/** Refuses every change. Searching needs no command: without ripgrep the tools use their own engine. */
export class ReadOnlyExecutionEnvironment extends EnvironmentWrapper {
  readonly #allowCommand: NonNullable<ReadOnlyOptions['allowCommand']>;

  constructor(inner: ExecutionEnvironment, options: ReadOnlyOptions = {}) {
    super(inner);
    this.#allowCommand = options.allowCommand ?? (() => false);
  }

  protected override async around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T> {
    if ('command' in operation) {
      if (!this.#allowCommand(operation.command)) throw readOnly('this command may not run');
    } else if (changes(operation)) {
      throw readOnly(`${subject(operation)} may not be changed`);
    }
    return await run();
  }
}

/** One use of an environment and what came of it. */
export type EnvironmentRecord = {
  operation: EnvironmentOperation;
  /** ISO 8601 UTC, of the beginning. */
  at: string;
  durationMs: number;
  outcome: { kind: 'done'; exitCode?: number } | { kind: 'failed'; message: string };
};

/** Keeps what was done, in the order of the beginnings: what a reviewer or a test wants to see. */
export class RecordingExecutionEnvironment extends EnvironmentWrapper {
  readonly #records: EnvironmentRecord[] = [];
  readonly #limit: number;
  #dropped = 0;

  /** `limit`: records to keep, the latest. Default 10,000. */
  constructor(inner: ExecutionEnvironment, options: { limit?: number } = {}) {
    super(inner);
    this.#limit = options.limit ?? 10_000;
  }

  /** Operations that have ended. */
  get records(): readonly EnvironmentRecord[] {
    return this.#records.slice(-this.#limit);
  }

  /** Records that the limit has cost. */
  get dropped(): number {
    return this.#dropped + Math.max(0, this.#records.length - this.#limit);
  }

  protected override async around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const at = new Date().toISOString();
    const keep = (outcome: EnvironmentRecord['outcome']) =>
      this.#keep({ operation, at, durationMs: Math.round(performance.now() - started), outcome });
    try {
      const result = await run();
      const exitCode = exitCodeOf(result);
      keep({ kind: 'done', ...present({ exitCode }) });
      return result;
    } catch (error) {
      keep({ kind: 'failed', message: messageOf(error) });
      throw error;
    }
  }

  #keep(record: EnvironmentRecord): void {
    this.#records.push(record);
    // Cutting at twice the limit keeps the cost of a record constant.
    if (this.#records.length < 2 * this.#limit) return;
    this.#dropped += this.#records.length - this.#limit;
    this.#records.splice(0, this.#records.length - this.#limit);
  }
}

const CHANGES: ReadonlySet<EnvironmentOperation['method']> = new Set([
  ...(['writeBytes', 'remove', 'rename', 'mkdirp', 'exec', 'start', 'connect'] as const),
]);

function changes({ method }: EnvironmentOperation): boolean {
  return CHANGES.has(method);
}

/** On one line, whatever stands in it. */
function subject(operation: EnvironmentOperation): string {
  if ('command' in operation) return JSON.stringify(operation.command);
  if (operation.method === 'rename')
    return `${JSON.stringify(operation.path)} to ${JSON.stringify(operation.to)}`;
  const bytes = operation.method === 'writeBytes' ? ` (${operation.bytes} bytes)` : '';
  return JSON.stringify(operation.path) + bytes;
}

function describeOutcome(result: unknown): string {
  const exitCode = exitCodeOf(result);
  return exitCode === undefined ? 'done' : `exit ${exitCode}`;
}

function exitCodeOf(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null || !('exitCode' in result)) return undefined;
  return typeof result.exitCode === 'number' ? result.exitCode : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readOnly(what: string): Error {
  return Object.assign(new Error(`Write operations are disabled in read-only mode: ${what}`), {
    code: 'EROFS',
  });
}
