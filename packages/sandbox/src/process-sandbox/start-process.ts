import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { pipeline, type Readable, type Writable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import type { Launch } from './containment.ts';
import { launchProgram } from './launcher.ts';
import { closePipes, type NamedPipes } from './named-pipes.ts';

export type StartedProcess = {
  pid: number;
  /** The exit code: 128 + n when signal n ended the process. Never rejects. */
  exited: Promise<number>;
  stdout: Readable;
  stderr: Readable;
  /** File descriptor 3 of the process. */
  report: Readable;
};

type Streams = { pipes: NamedPipes | undefined; stdin: Readable | undefined };

/**
 * Starts a process in a session of its own. Without `pipes`, it gets those that `spawn` makes; without `stdin`, its
 * input is empty.
 *
 * @throws WhetstoneError `sandbox-cwd-invalid` if the working directory is not a folder, otherwise
 * `sandbox-start-failed`.
 */
export async function startProcess(
  launch: Launch,
  cwd: string,
  { pipes, stdin }: Streams,
): Promise<StartedProcess> {
  await assertFolder(cwd);
  try {
    return pipes ? await startWithPipes(launch, cwd, pipes, stdin) : await startDirectly(launch, cwd, stdin);
  } catch (error) {
    throw cannotStart(error);
  }
}

async function startWithPipes(
  { file, args, env }: Launch,
  cwd: string,
  pipes: NamedPipes,
  stdin: Readable | undefined,
): Promise<StartedProcess> {
  const outputs = ['read', 'read', 'read'] as const;
  const opened = await pipes.open(stdin ? [...outputs, 'write'] : outputs);
  const [stdout, stderr, report, input] = opened;
  try {
    if (!stdout || !stderr || !report) throw new Error('there are not enough pipes');
    const started = await launchProgram({
      file,
      args,
      env,
      cwd,
      ...(input && { stdin: input.path }),
      outputs: [stdout.path, stderr.path, report.path],
    });
    for (const { release } of opened) release();
    if (stdin && input) {
      feed(input.stream, stdin);
      // Nobody reads it any more, and its source may never end.
      void started.exited.then(() => input.stream.destroy());
    }
    return { ...started, stdout: stdout.stream, stderr: stderr.stream, report: report.stream };
  } catch (error) {
    closePipes(opened);
    throw error;
  }
}

async function startDirectly(
  { file, args, env }: Launch,
  cwd: string,
  stdin: Readable | undefined,
): Promise<StartedProcess> {
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject);
  });
  const [input, stdout, stderr, report] = child.stdio;
  if (child.pid === undefined || !stdout || !stderr) throw new Error('the process has no pid or no output');
  if (stdin && input) feed(input, stdin);
  return {
    pid: child.pid,
    exited,
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    report: report as Readable,
  };
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
