import { isFile } from './server.js';

/** @import { Activity } from '../../../whetstone/src/view/api.ts' */

/** After a failure, how long until the page asks again. */
const RETRY_MS = 2000;

/** What the server tells about changes. @typedef {{ changed(): Promise<void>, close(): void }} Live */

/**
 * Listens to what happens to a run, or to all runs. A hidden tab does not listen: a browser has only six connections to one
 * server.
 * @param {string | null} run
 * @param {(activity: Activity | null) => boolean} onActivity Says whether that counts as a change.
 * @returns {Live}
 */
export function listenTo(run, onActivity) {
  /** @type {EventSource | null} */
  let source = null;
  let changes = 0;
  let seen = 0;
  /** @type {() => void} */
  let wake = () => undefined;
  const change = () => {
    changes++;
    wake();
  };
  const open = () => {
    if (isFile || document.hidden || source !== null) return;
    source = new EventSource(`/api/live${run === null ? '' : `?${new URLSearchParams({ run })}`}`);
    source.addEventListener('changed', change);
    source.addEventListener('activity', ({ data }) => {
      if (onActivity(JSON.parse(data))) change();
    });
    source.addEventListener('error', () => setTimeout(change, RETRY_MS));
  };
  const shut = () => {
    source?.close();
    source = null;
  };
  const onVisibility = () => (document.hidden ? shut() : open());
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return {
    /** Resolves with the next change, or at once where there was one since the last call. */
    async changed() {
      if (changes === seen) {
        await new Promise((resolve) => {
          wake = () => resolve(undefined);
        });
      }
      seen = changes;
    },
    close() {
      document.removeEventListener('visibilitychange', onVisibility);
      shut();
      change();
    },
  };
}
