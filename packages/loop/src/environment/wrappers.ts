import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type EnvironmentOperation, EnvironmentWrapper } from './environment-wrapper.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';

/**
 * Logs a line before each command and change, and a line with the result after it. With `reads: true` it also logs
 * operations that only read. Commands are logged as they are, with the secrets that they may carry.
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
  /** Which commands may run. A command that may run can write, too. Default: none. */
  allowCommand?: (command: string | readonly string[]) => boolean;
};

/**
 * Refuses every change, and every command that is not allowed. Searches still work, because they have an engine that
 * needs no command.
 */
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

/** One operation on an environment and its result. */
export type EnvironmentRecord = {
  operation: EnvironmentOperation;
  /** ISO 8601 UTC, of the beginning. */
  at: string;
  durationMs: number;
  outcome: { kind: 'done'; exitCode?: number } | { kind: 'failed'; message: string };
};

/** Keeps a record of each operation, in the order in which they began, for reviewers and tests. */
export class RecordingExecutionEnvironment extends EnvironmentWrapper {
  readonly #records: EnvironmentRecord[] = [];
  readonly #limit: number;
  #dropped = 0;

  /** `limit`: how many of the latest records to keep. Default 10,000. */
  constructor(inner: ExecutionEnvironment, options: { limit?: number } = {}) {
    super(inner);
    this.#limit = options.limit ?? 10_000;
  }

  /** The operations that have ended. */
  get records(): readonly EnvironmentRecord[] {
    return this.#records.slice(-this.#limit);
  }

  /** Number of records that were dropped because of the limit. */
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

function readOnly(what: string): Error {
  return Object.assign(new Error(`Write operations are disabled in read-only mode: ${what}`), {
    code: 'EROFS',
  });
}
