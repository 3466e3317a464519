import { WhetstoneError } from '@whetstone/errors';

/** A log that cannot be read (codes `inspect-log-*`). `where` is the ZIP entry, where one entry is at fault. */
export class InspectLogError extends WhetstoneError {
  override readonly name = 'InspectLogError';
}

/** `where`: the entry at fault. */
export const logError = (
  kind: 'damaged' | 'invalid' | 'too-large' | 'unsupported',
  message: string,
  where?: string,
  cause?: unknown,
): InspectLogError => new InspectLogError(`inspect-log-${kind}`, message, { where, cause });
