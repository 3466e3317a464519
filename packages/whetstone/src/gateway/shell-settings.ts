import { writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Connection, DrivenAgent } from '@whetstone/agents/evaluator';
import { makeEach } from '@whetstone/sandbox/files';

/**
 * Variables of an agent's settings that are only for a sandbox and must not reach the shell of the user: folders that
 * all programs use, and what switches safeguards off (that the agent is confined, that its folder is trusted).
 */
const SANDBOX_ONLY = /^(HOME|XDG_\w+|IS_SANDBOX|\w+_TRUST_WORKSPACE|\w+_SUPPRESS_YOLO_WARNING)$/;

/**
 * The variables that point an agent at a gateway in the shell of the user. Where a variable names a folder or a
 * file of the agent, the files of the agent are written there. HOME stays that of the user.
 */
export async function writeShellSettings(
  agent: DrivenAgent,
  connection: Connection,
): Promise<Record<string, string>> {
  const { env, files } = agent.launch.settings(connection);
  const exported = Object.entries(env).filter(([name]) => !SANDBOX_ONLY.test(name));
  const named = new Set(
    exported.map(([, value]) => value).filter((value) => isWithin(connection.home, value)),
  );
  for (const [path, content] of Object.entries(files)) {
    const file = join(connection.home, path);
    if (![...named].some((folder) => isWithin(folder, file))) continue;
    named.delete(file);
    makeEach(dirname(file), 0o700);
    await writeFile(file, content, { mode: 0o600 });
  }
  for (const folder of named) makeEach(folder, 0o700);
  return Object.fromEntries(exported);
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return path.startsWith('/') && !way.startsWith('..');
}

/** Lines that set the variables in sh, bash and zsh, for `eval`. */
export const exportLines = (environment: Readonly<Record<string, string>>): string =>
  Object.entries(environment)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join('');
