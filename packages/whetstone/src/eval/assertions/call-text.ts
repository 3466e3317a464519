import { isMatcher } from '../expect/matcher.ts';
import { show } from '../expect/show.ts';

/** A call as it stands in the eval: `calledTool("shell", {"count":2})`. Arguments that are not given are left out. */
export function callText(method: string, ...given: readonly unknown[]): string {
  const named = given.filter((argument) => argument !== undefined);
  return `${method}(${named.map((argument) => (isMatcher(argument) ? argument.label : show(argument))).join(', ')})`;
}
