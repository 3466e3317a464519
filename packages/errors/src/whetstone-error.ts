import { type ErrorCode, errorTable, exitCodes } from './error-table.ts';
import type { ErrorClass } from './table/error-entry.ts';

export type WhetstoneErrorOptions = {
  /** A file (with `:line:column` where known), a path of the configuration, a command or an option. */
  where?: string | undefined;
  /** What to do about this one, where that says more than the fix of its code in the table. */
  hint?: string | undefined;
  cause?: unknown;
};

/** An error that a user can act on. `message` says what happened; docs/errors.md describes each code. */
export class WhetstoneError extends Error {
  override readonly name: string = 'WhetstoneError';
  readonly code: ErrorCode;
  readonly class: ErrorClass;
  readonly where: string | undefined;
  readonly hint: string | undefined;
  /** Of a command that ends with this error. */
  readonly exitCode: 2 | 3;

  constructor(code: ErrorCode, message: string, options: WhetstoneErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.class = errorTable[code].class;
    this.where = options.where;
    this.hint = options.hint;
    this.exitCode = exitCodes[this.class];
  }
}
