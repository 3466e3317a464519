import type { JsonValue } from '../json.ts';
import type { LossTally } from '../loss.ts';
import { logError } from './inspect-log-error.ts';

const PROTOCOL = 'attachment://';

/** Deeper than any log, and far from exhausting the stack. */
const MAXIMUM_DEPTH = 500;

/**
 * Puts attachments back where a log refers to them. A reference is a whole string: a content hash in a whole sample, an
 * index in a chunked one. References inside attachments are not replaced.
 */
export function createAttachmentResolver(
  attachmentOf: (reference: string) => string | undefined,
  losses: LossTally,
): (value: JsonValue) => JsonValue {
  const resolve = (value: JsonValue, depth: number): JsonValue => {
    if (typeof value === 'string') {
      if (!value.startsWith(PROTOCOL)) return value;
      const attachment = attachmentOf(value.slice(PROTOCOL.length));
      if (attachment === undefined) losses.add('attachment', 'not in the log, so the reference stays');
      return attachment ?? value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAXIMUM_DEPTH) {
      throw logError('inspect-log-invalid', `Values are nested deeper than ${MAXIMUM_DEPTH}.`);
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, depth + 1)]));
  };
  return (value) => resolve(value, 0);
}
