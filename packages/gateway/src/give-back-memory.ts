import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So many calls at once are a burst. */
const BURST = 32;
const CALM_MS = 1000;

/**
 * V8 collects when something is allocated, so after a burst of calls their memory would be kept until the next one. This
 * collects once, a second after most of a burst's calls have ended. The returned function is called when a call begins;
 * what it returns, when it ends.
 */
export function giveBackMemory(collect: () => void = collectGarbage): () => () => void {
  let open = 0;
  let most = 0;
  let calm: NodeJS.Timeout | undefined;

  function end(): void {
    open -= 1;
    if (calm || most < BURST || open > most / 4) return;
    calm = setTimeout(() => {
      calm = undefined;
      if (open > most / 4) return;
      most = open;
      collect();
    }, CALM_MS).unref();
  }

  return () => {
    open += 1;
    most = Math.max(most, open);
    return end;
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect();
}
