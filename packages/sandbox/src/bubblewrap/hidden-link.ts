import { lstatSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Sandbox } from '../sandbox.ts';
import { unseenPaths } from './visible-paths.ts';

/**
 * The link by which the PATH of this process has a program that commands of a sandbox do not find, because its target is not
 * visible there; `undefined`: there is none, or the sandbox does not take its programs from this machine.
 */
export function hiddenLink(
  { provider }: Sandbox,
  name: string,
): { link: string; target: string } | undefined {
  if (provider !== 'bubblewrap') return undefined;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const link = join(folder, name);
    const target = targetOf(link);
    if (target !== undefined && unseenPaths([target], []).length > 0) return { link, target };
  }
  return undefined;
}

function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : undefined;
  } catch {
    return undefined; // not there, or a link that leads nowhere
  }
}
