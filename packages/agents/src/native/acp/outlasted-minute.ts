import { setTimeout as pause } from 'node:timers/promises';
import type { ClientOptions } from './client-options.ts';

const MINUTE_MS = 60_000;

/**
 * Gemini CLI 0.61 names the file of a session after its minute. A process that loads the session in the same minute
 * overwrites that file and then finds no session, so it has to wait for the next minute.
 */
export function outlastedMinute(
  now: () => number = Date.now,
): Required<Pick<ClientOptions, 'afterNew' | 'beforeLoad'>> {
  const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);
  const began = new Map<string, number>();
  return {
    afterNew: (sessionId) => void began.set(sessionId, minuteOf(now())),
    async beforeLoad(sessionId, signal) {
      const minute = began.get(sessionId);
      began.delete(sessionId);
      if (minute !== minuteOf(now())) return;
      await pause(MINUTE_MS - (now() % MINUTE_MS), undefined, { signal });
    },
  };
}
