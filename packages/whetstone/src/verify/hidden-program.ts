import { lstatSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type CommandResult, type Sandbox, unseenPaths } from '@whetstone/sandbox';

/** How `sh` and other shells name a program that they did not find. */
const NOT_FOUND = /(?:^|[\s:])([\w.+-]+): (?:command )?not found$/m;

/**
 * Why a sealed command did not find a program that the user has: a link of the PATH leads out of what the sandbox shows. The
 * end of a sentence, with the setting that helps; `undefined`: it is not that.
 */
export function hiddenProgram(
  { provider }: Sandbox,
  { exitCode, stderr }: CommandResult,
): string | undefined {
  const name = exitCode === 127 && provider === 'bubblewrap' && NOT_FOUND.exec(stderr)?.[1];
  if (!name) return undefined;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const target = targetOf(join(folder, name));
    if (target === undefined || unseenPaths([target], []).length === 0) continue;
    return `because ${join(folder, name)} is a link to ${target}, which the sandbox hides (list it, or the folder that it needs, under \`sandbox.readable\`)`;
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
