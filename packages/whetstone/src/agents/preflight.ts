import { stripVTControlCharacters } from 'node:util';
import type { AgentConfig } from '../config/config.ts';
import { executableOf } from '../config/executable.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const TIME_LIMIT_MS = 5_000;
const LONGEST_VERSION = 200;

/**
 * What `<executable> --version` says, in its first line of at most 200 characters: for the manifest, once a run. `null`
 * for an agent without a command, and for an executable that is not on PATH or answers with an error. Give it a
 * sandbox of its own: some programs write to HOME when asked for their version.
 */
export async function agentVersion(config: AgentConfig, sandbox: Sandbox): Promise<string | null> {
  const executable = config.command && executableOf(config.command);
  // A path is a script of the repository or of the workspace; running one is not looking.
  if (!executable || executable.includes('/') || executable.includes('{')) return null;
  const result = await sandbox
    .runCommand(executable, ['--version'], { timeoutMs: TIME_LIMIT_MS })
    .catch(() => undefined);
  if (result?.ended !== 'exit' || result.exitCode !== 0) return null;
  const [line = ''] = stripVTControlCharacters(result.stdout).trim().split('\n', 1);
  return (
    line
      .replaceAll(/\p{Cc}/gu, '')
      .trim()
      .slice(0, LONGEST_VERSION) || null
  );
}
