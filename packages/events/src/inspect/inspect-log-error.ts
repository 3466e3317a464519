import { type ErrorCode, WhetstoneError } from '@whetstone/errors';

/** A log that cannot be read (codes `inspect-log-*`). `where` is the ZIP entry, where one entry is at fault. */
export class InspectLogError extends WhetstoneError {
  override readonly name = 'InspectLogError';
}

/** `where`: the entry at fault. */
export const logError = (
  code: ErrorCode,
  message: string,
  where?: string,
  cause?: unknown,
): InspectLogError => new InspectLogError(code, message, { where, cause });
