import { stripVTControlCharacters } from 'node:util';
import type { Sandbox } from '@whetstone/sandbox';
import { executableOf } from '../command/executable.ts';
import type { AgentConfig, Command } from '../config.ts';
import { drivenAgentOf } from '../native/driven-agent-of.ts';
import { locateProgram, startOf } from './installed-agents.ts';

const TIME_LIMIT_MS = 5_000;
/** Some of the driven agents unpack themselves at their first run in a new HOME. */
const DRIVEN_TIME_LIMIT_MS = 60_000;
const LONGEST_VERSION = 200;

/**
 * The first line that `<executable> --version` prints, at most 200 characters: for the manifest, once per run. `null` for
 * an agent without a program, and for a program that is not on the PATH or ends with an error. Pass a sandbox that is used
 * for nothing else, because some programs write to HOME when asked for their version.
 */
export async function agentVersion(config: AgentConfig, sandbox: Sandbox): Promise<string | null> {
  const [program, ...args] = await programOf(config);
  if (program === undefined) return null;
  const timeoutMs = config.runner === 'driver' ? DRIVEN_TIME_LIMIT_MS : TIME_LIMIT_MS;
  const result = await sandbox
    .runCommand(program, [...args, '--version'], { timeoutMs })
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

async function programOf(config: AgentConfig): Promise<string[]> {
  if (config.runner === 'command') return templateProgram(config.command);
  if (config.runner !== 'driver') return [];
  const agent = drivenAgentOf(config);
  const program = await locateProgram(agent, config.driver.version).catch(() => undefined);
  return program === undefined ? [] : startOf(agent, program);
}

/** A path names a script of the repository or the workspace, which must not run only for its version. */
function templateProgram(command: Command): string[] {
  const executable = executableOf(command);
  return !executable || executable.includes('/') || executable.includes('{') ? [] : [executable];
}
