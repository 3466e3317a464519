/**
 * - `not-a-log`: the file is not an Inspect log, or a part of it has the wrong shape.
 * - `damaged`: the log is cut off, unreadable or incomplete.
 * - `too-large`: an entry or a sample is larger than the limit, for example a zip bomb.
 * - `unsupported`: an entry is encrypted, or compressed with another method than stored, deflate or zstd.
 */
export type InspectLogErrorCode = 'not-a-log' | 'damaged' | 'too-large' | 'unsupported';

export class InspectLogError extends Error {
  override readonly name = 'InspectLogError';
  readonly code: InspectLogErrorCode;
  /** The name of the ZIP entry, when the problem is in one entry. */
  readonly entry: string | undefined;

  constructor(code: InspectLogErrorCode, entry: string | undefined, message: string, options?: ErrorOptions) {
    super(entry === undefined ? message : `${entry}: ${message}`, options);
    this.code = code;
    this.entry = entry;
  }
}
