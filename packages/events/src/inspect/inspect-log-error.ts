import { WhetstoneError } from '@whetstone/errors';

/** A log that cannot be read (codes `inspect-log-*`). `where` is the ZIP entry, where one entry is at fault. */
export class InspectLogError extends WhetstoneError {
  override readonly name = 'InspectLogError';
}
