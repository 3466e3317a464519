import { stripVTControlCharacters } from 'node:util';
import type { Sandbox } from '@whetstone/sandbox';
import { executableOf } from '../command/executable.ts';
import type { AgentConfig, Command } from '../config.ts';
import { drivenAgents } from '../native/native-agents.ts';
import { locateProgram } from './installed-agents.ts';

const TIME_LIMIT_MS = 5_000;
/** Some that are driven unpack themselves at their first run in a new HOME. */
const DRIVEN_TIME_LIMIT_MS = 60_000;
const LONGEST_VERSION = 200;

/**
 * What `<executable> --version` says, in its first line of at most 200 characters: for the manifest, once a run. `null`
 * for an agent without a command, and for an executable that is not on PATH or answers with an error. Give it a
 * sandbox of its own: some programs write to HOME when asked for their version.
 */
export async function agentVersion(config: AgentConfig, sandbox: Sandbox): Promise<string | null> {
  const program = await programOf(config);
  if (program === undefined) return null;
  const timeoutMs = config.runner === 'driver' ? DRIVEN_TIME_LIMIT_MS : TIME_LIMIT_MS;
  const result = await sandbox.runCommand(program, ['--version'], { timeoutMs }).catch(() => undefined);
  if (result?.ended !== 'exit' || result.exitCode !== 0) return null;
  const [line = ''] = stripVTControlCharacters(result.stdout).trim().split('\n', 1);
  return (
    line
      .replaceAll(/\p{Cc}/gu, '')
      .trim()
      .slice(0, LONGEST_VERSION) || null
  );
}

async function programOf(config: AgentConfig): Promise<string | undefined> {
  if (config.runner === 'command') return templateProgram(config.command);
  if (config.runner !== 'driver') return undefined;
  return await locateProgram(drivenAgents[config.kind], config.driver.version).catch(() => undefined);
}

/** A path is a script of the repository or of the workspace; running one is not looking. */
function templateProgram(command: Command): string | undefined {
  const executable = executableOf(command);
  return !executable || executable.includes('/') || executable.includes('{') ? undefined : executable;
}
