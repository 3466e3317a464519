import { setTimeout as delay } from 'node:timers/promises';
import { present } from '@whetstone/events/present';
import { type Answer, errorAnswer } from '../answer.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import type { Fault } from './fault.ts';

/** Ends the connection of a call with a reset instead of an answer. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
}

/** @throws ConnectionFault when the connection is to be reset before its request is read. */
export function refuseByFault(faults: readonly Fault[]): void {
  if (faults.some((fault) => fault.kind === 'refused')) throw new ConnectionFault('A fault: refused.');
}

/**
 * The answer that the faults give instead of the real one. `undefined`: none, and the call continues.
 * @throws ConnectionFault when the connection is to be reset.
 */
export async function answerByFault(
  faults: readonly Fault[],
  wire: WireProtocol,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  for (const fault of faults) {
    switch (fault.kind) {
      case 'latency':
        await delay(fault.ms, undefined, { signal });
        break;
      case 'hang':
        return forever(signal);
      case 'reset':
        throw new ConnectionFault('A fault: reset.');
      case 'status':
        return statusAnswer(fault, wire);
    }
  }
  return undefined;
}

export const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const messages: Record<number, string> = {
  401: 'The API key is not valid.',
  429: 'Too many requests.',
  500: 'The server had an error.',
  529: 'Overloaded.',
};

function statusAnswer(fault: Extract<Fault, { kind: 'status' }>, wire: WireProtocol): Answer {
  const message = messages[fault.status] ?? `The provider answers ${fault.status}.`;
  return errorAnswer(
    wire,
    fault.status,
    message,
    present({ 'retry-after': fault.retryAfterSeconds?.toString() }),
  );
}
