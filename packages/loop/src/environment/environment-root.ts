import type { ExecutionEnvironment } from './execution-environment.ts';

const roots = new WeakMap<ExecutionEnvironment, ExecutionEnvironment>();

/** Notes that `wrapper` works on the files of `inner`, so that both share locks and initialisation. Returns `wrapper`. */
export function wrapEnvironment<T extends ExecutionEnvironment>(wrapper: T, inner: ExecutionEnvironment): T {
  roots.set(wrapper, environmentRoot(inner));
  return wrapper;
}

/** The environment below all wrappers. */
export function environmentRoot(environment: ExecutionEnvironment): ExecutionEnvironment {
  return roots.get(environment) ?? environment;
}
