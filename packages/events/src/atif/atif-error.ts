import { WhetstoneError } from '@whetstone/errors';

/** A document that is not ATIF, or events that cannot be. `where` is a path in the document: `steps.3.source`. */
export class AtifError extends WhetstoneError {
  override readonly name = 'AtifError';
}
