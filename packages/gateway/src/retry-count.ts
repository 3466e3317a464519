import { createHash } from 'node:crypto';
import type { NeutralRequest } from './wire/neutral.ts';

/**
 * Counts a call that has ended, and returns how many calls with the same conversation failed right before it. Compares
 * the conversation and not the bytes, because agents change options and drop fields when they retry. `read` parses the
 * request, which is only done when it is needed.
 */
export type RetryCount = (read: () => NeutralRequest, ok: boolean) => number;

export function countRetries(): RetryCount {
  const failures = new Map<string, number>();
  return (read, ok) => {
    // A conversation is long, so its key is only made when it is needed.
    if (ok && failures.size === 0) return 0;
    const key = conversationKey(read());
    const before = failures.get(key) ?? 0;
    if (ok) failures.delete(key);
    else failures.set(key, before + 1);
    return before;
  };
}

const conversationKey = ({ wire, model, messages }: NeutralRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([wire, model, messages]))
    .digest('base64');
