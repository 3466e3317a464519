import type { ExecutionEnvironment } from './execution-environment.ts';

const roots = new WeakMap<ExecutionEnvironment, ExecutionEnvironment>();

/** Notes that `wrapper` has the files of `inner`, so that both share locks and initialisation. Returns `wrapper`. */
export function wrapEnvironment<T extends ExecutionEnvironment>(wrapper: T, inner: ExecutionEnvironment): T {
  roots.set(wrapper, environmentRoot(inner));
  return wrapper;
}

/** The environment below all wrappers. */
export function environmentRoot(environment: ExecutionEnvironment): ExecutionEnvironment {
  return roots.get(environment) ?? environment;
}

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
