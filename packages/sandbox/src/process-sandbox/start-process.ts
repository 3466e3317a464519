import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable, type Writable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import type { Launch } from './containment.ts';
import type { OutputPipe, OutputPipes } from './output-pipes.ts';

export type StartedProcess = {
  child: ChildProcess;
  pid: number;
  stdout: Readable;
  stderr: Readable;
  /** File descriptor 3 of the launcher. */
  report: Readable;
};

/**
 * Starts a launcher in a session of its own. Without `pipes`, it gets those that `spawn` makes; without `stdin`, its
 * input is empty.
 *
 * @throws WhetstoneError `sandbox-cwd-invalid` if the working directory is not a folder, otherwise
 * `sandbox-start-failed`.
 */
export async function startProcess(
  launch: Launch,
  cwd: string,
  { pipes, stdin }: { pipes: OutputPipes | undefined; stdin: Readable | undefined },
): Promise<StartedProcess> {
  await assertFolder(cwd);
  let opened: OutputPipe[] = [];
  try {
    opened = (await pipes?.open()) ?? [];
    return await spawnInto(opened, { launch, cwd, stdin });
  } catch (error) {
    for (const pipe of opened) pipe.readable.destroy();
    throw cannotStart(error);
  } finally {
    for (const pipe of opened) pipe.closeWriteEnd();
  }
}

type Start = { launch: Launch; cwd: string; stdin: Readable | undefined };

async function spawnInto([out, err]: OutputPipe[], { launch, cwd, stdin }: Start): Promise<StartedProcess> {
  const child = spawn(launch.file, launch.args, {
    cwd,
    env: launch.env,
    stdio: [stdin ? 'pipe' : 'ignore', out?.stdio ?? 'pipe', err?.stdio ?? 'pipe', 'pipe'],
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject);
  });
  if (stdin && child.stdin) feed(child.stdin, stdin);
  const stdout = out?.readable ?? child.stdout;
  const stderr = err?.readable ?? child.stderr;
  if (child.pid === undefined || !stdout || !stderr) throw new Error('the process has no pid or no output');
  return { child, pid: child.pid, stdout, stderr, report: child.stdio[3] as Readable };
}

/** A command may end before it has read everything. */
function feed(target: Writable, source: Readable): void {
  pipeline(source, target, () => {});
}

function cannotStart(cause: unknown): WhetstoneError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const hints: Record<string, string> = {
    E2BIG: 'An argument or the environment is too long. Pass long texts as a file.',
    ERR_INVALID_ARG_VALUE: 'An argument or a variable contains a NUL character. No program can receive it.',
  };
  return new WhetstoneError('sandbox-start-failed', `A command could not be started: ${message}.`, {
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
