import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import type { StoredRuns } from '../load-runs.ts';
import { followActivity } from './activity.ts';

/** How often a stream looks at the files. A change of the numbers is sent at once, and nothing while nothing changes. */
const EVERY_MS = 700;
/** A line that keeps the connection from looking dead. */
const KEEP_ALIVE_MS = 20_000;

/**
 * Server-sent events about a run, or about all of them: `changed` when its results are others than before, and `activity`
 * with what it does now, as long as a process works on it. Ends when the reader leaves.
 */
export function liveStream(runs: StoredRuns, run: string | undefined): Readable {
  const stream = new PassThrough();
  const follower = followActivity();
  let sent = { revision: '', activity: '' };
  let lastWrite = performance.now();
  const write = (text: string) => {
    lastWrite = performance.now();
    stream.write(text);
  };
  const look = async () => {
    const revision = digest((await runs.revision(run)) ?? 'none');
    if (revision !== sent.revision) write(message('changed', { revision }));
    sent = { ...sent, revision };
    const loaded = run === undefined ? undefined : await runs.find(run).catch(() => undefined);
    const isRunning = loaded?.detail.state === 'running';
    const activity = JSON.stringify(loaded && isRunning ? await follower.next(loaded.run) : null);
    if (activity !== sent.activity) write(`event: activity\ndata: ${activity}\n\n`);
    sent = { ...sent, activity };
    if (performance.now() - lastWrite > KEEP_ALIVE_MS) write(': still here\n\n');
  };
  void (async () => {
    while (!stream.destroyed && !stream.writableEnded) {
      // A run that cannot be read at this moment may be readable at the next.
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return stream;
}

const message = (event: string, data: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16);
