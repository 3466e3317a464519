/**
 * An error that a user can act on: what happened (`message`), where (`where`), and how to mend it (`hint`).
 * `code` is stable and documented; the exit code of the command line follows from `exitCode`.
 */
export class WhetstoneError extends Error {
  override readonly name = 'WhetstoneError';
  readonly code: string;
  readonly hint: string | undefined;
  /** A file (with `:line:column` where known), a config path or a command. */
  readonly where: string | undefined;
  /** 2: bad configuration or usage. 3: the harness could not do its work. */
  readonly exitCode: 2 | 3;

  constructor(
    code: string,
    message: string,
    options: { hint?: string; where?: string; exitCode?: 2 | 3; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.where = options.where;
    this.exitCode = options.exitCode ?? 3;
  }
}
