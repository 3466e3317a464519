import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type EnvironmentOperation, EnvironmentWrapper } from './environment-wrapper.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import { isSearchCommand } from './search-command.ts';

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
      const exitCode = exitCodeOf(result);
      ended(exitCode === undefined ? 'done' : `exit ${exitCode}`);
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

/** Refuses changes, and commands that are not allowed. The searches of the tools still work: they only read. */
export class ReadOnlyExecutionEnvironment extends EnvironmentWrapper {
  readonly #allowCommand: ReadOnlyOptions['allowCommand'];

  constructor(inner: ExecutionEnvironment, { allowCommand }: ReadOnlyOptions = {}) {
    super(inner);
    this.#allowCommand = allowCommand;
  }

  protected override async around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T> {
    if ('command' in operation) {
      const { command } = operation;
      if (!isSearchCommand(command) && !this.#allowCommand?.(command))
        throw readOnly('this command may not run');
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

  get records(): readonly EnvironmentRecord[] {
    return [...this.#records];
  }

  /** Number of records that were dropped because of the limit. */
  get dropped(): number {
    return this.#dropped;
  }

  protected override async around<T>(operation: EnvironmentOperation, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const at = new Date().toISOString();
    const keep = (outcome: EnvironmentRecord['outcome']) => {
      this.#records.push({ operation, at, durationMs: Math.round(performance.now() - started), outcome });
      if (this.#records.length <= this.#limit) return;
      this.#records.shift();
      this.#dropped += 1;
    };
    try {
      const result = await run();
      keep({ kind: 'done', ...present({ exitCode: exitCodeOf(result) }) });
      return result;
    } catch (error) {
      keep({ kind: 'failed', message: messageOf(error) });
      throw error;
    }
  }
}

const CHANGES = [
  ...['writeBytes', 'copyAttributes', 'remove', 'removeDirectory', 'rename', 'mkdirp'],
  ...['exec', 'start', 'connect'],
];

function changes({ method }: EnvironmentOperation): boolean {
  return CHANGES.includes(method);
}

/** On one line, whatever stands in it. */
function subject(operation: EnvironmentOperation): string {
  if ('command' in operation) return JSON.stringify(operation.command);
  if ('to' in operation) return `${JSON.stringify(operation.path)} to ${JSON.stringify(operation.to)}`;
  const bytes = operation.method === 'writeBytes' ? ` (${operation.bytes} bytes)` : '';
  return JSON.stringify(operation.path) + bytes;
}

function exitCodeOf(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null || !('exitCode' in result)) return undefined;
  return typeof result.exitCode === 'number' ? result.exitCode : undefined;
}

function readOnly(what: string): Error {
  const error = new Error(`Write operations are disabled in read-only mode: ${what}`);
  return Object.assign(error, { code: 'EROFS' });
}
