import { show } from '../expect/show.ts';

/** Evals run without a check of their types, so that a wrong argument would fail far from its reason. */
export function requireArgument(isRight: boolean, method: string, wanted: string, given: unknown): void {
  if (!isRight) throw new TypeError(`${method} takes ${wanted}, and got ${show(given)}`);
}
