import { environmentRoot } from '../environment/environment-root.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

const initialised = new WeakMap<ExecutionEnvironment, Promise<void>>();

/** Initialises an environment once, for all sessions that share it. Where that fails, the next session tries again. */
export function initializeOnce(environment: ExecutionEnvironment): Promise<void> {
  const root = environmentRoot(environment);
  const known = initialised.get(root);
  if (known) return known;
  const promise = Promise.resolve(environment.initialize?.());
  initialised.set(root, promise);
  promise.catch(() => initialised.delete(root));
  return promise;
}
