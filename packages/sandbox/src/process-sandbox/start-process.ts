import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import { type StartedProgram, startProgram } from '../process/launcher.ts';
import type { Launch } from './containment.ts';

/**
 * Starts the launcher of a command. Without `stdin`, its input is empty.
 *
 * @throws WhetstoneError `sandbox-cwd-invalid` if the working directory is not a folder, otherwise
 * `sandbox-start-failed`.
 */
export async function startProcess(
  { file, args, env }: Launch,
  cwd: string,
  stdin: Readable | undefined,
): Promise<StartedProgram> {
  await assertFolder(cwd);
  return await startProgram({ file, args, env, cwd, stdin, hasReport: true }).catch(cannotStart);
}

function cannotStart(cause: NodeJS.ErrnoException): never {
  const { code, message } = cause;
  const hints: Record<string, string> = {
    E2BIG: 'An argument or the environment is too long. Pass long texts as a file.',
    ERR_INVALID_ARG_VALUE: 'An argument or a variable contains a NUL character. No program can receive it.',
  };
  throw new WhetstoneError('sandbox-start-failed', `A command could not be started: ${message}.`, {
    cause,
    hint: hints[code ?? ''],
  });
}

async function assertFolder(path: string): Promise<void> {
  const entry = await stat(path).catch(() => undefined);
  if (entry?.isDirectory()) return;
  const problem = entry ? 'is not a folder' : 'does not exist';
  throw new WhetstoneError('sandbox-cwd-invalid', `The working directory of a command ${problem}.`, {
    where: path,
  });
}
