import { type CommandResult, hiddenLink, type Sandbox } from '@whetstone/sandbox';

/** How `sh` and other shells name a program that they did not find. */
const NOT_FOUND = /(?:^|[\s:])([\w.+-]+): (?:command )?not found$/m;

/**
 * Why a sealed command did not find a program that the user has: a link of the PATH leads out of what the sandbox shows. The
 * end of a sentence, with the setting that helps; `undefined`: it is not that.
 */
export function hiddenProgram(sandbox: Sandbox, { exitCode, stderr }: CommandResult): string | undefined {
  const name = exitCode === 127 ? NOT_FOUND.exec(stderr)?.[1] : undefined;
  const hidden = name === undefined ? undefined : hiddenLink(sandbox, name);
  return (
    hidden &&
    `because ${hidden.link} is a link to ${hidden.target}, which the sandbox hides (list it, or the folder that it needs, under \`sandbox.readable\`)`
  );
}
