import { join } from 'node:path';
import type { Mask, Sandbox } from '@whetstone/sandbox';
import type { TaskConfig } from '../config/config.ts';
import { INSTALLATION_FILES, setupEnvironment } from '../config/setup-environment.ts';
import { describeResult, lastLines, type RanCommand, runCommands, succeeded } from './run-commands.ts';

/** The limit of each setup command without `setup_timeout_seconds`, in seconds. */
const TIME_LIMIT_SECONDS = 600;

export type RanSetup = {
  ran: RanCommand[];
  /** What failed, and the last lines of its output. */
  failure?: string;
};

/**
 * Runs the setup commands of a task, until one fails. They get what installing needs and the agent does not get: the
 * proxies, certificates and package registries of this machine, and the task's `setup_env`.
 */
export async function runSetup(
  sandbox: Sandbox,
  task: TaskConfig,
  options: { directory: string; mask: Mask; signal: AbortSignal },
): Promise<RanSetup> {
  const ran = await runCommands(sandbox, task.setup, {
    ...options,
    prefix: 'setup',
    stopAtFailure: true,
    timeoutMs: (task.setupTimeoutSeconds ?? TIME_LIMIT_SECONDS) * 1000,
    network: 'open',
    env: async () => setupEnvironment(task, process.env).env,
    lend: INSTALLATION_FILES,
  });
  const failed = ran.find(({ result }) => !succeeded(result));
  return failed ? { ran, failure: explainFailure(failed) } : { ran };
}

/** What failed, and the last lines of its output. `folder`: that of the folder of its logs, relative to what a reader knows. */
export const explainFailure = (failed: RanCommand, folder = ''): string =>
  `${describeResult(failed)}${endOf(failed, folder)}`;

function endOf({ row, result }: RanCommand, folder: string): string {
  const lines = lastLines(result);
  const path = result.stderr.trim() === '' ? row.stdout_path : row.stderr_path;
  return lines.length === 0 ? '' : `\n${join(folder, path)} ends with:\n${lines.join('\n')}`;
}
