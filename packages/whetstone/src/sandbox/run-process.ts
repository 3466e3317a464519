import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { WhetstoneError } from '../error.ts';
import {
  type ContainedTree,
  type Containment,
  GRACE_MS,
  type Launch,
  readLaunchReport,
} from './containment.ts';
import type { OutputPipes } from './output-pipes.ts';
import { OutputStream } from './output-stream.ts';
import type { CommandResult, RunOptions } from './sandbox.ts';

const DEFAULT_FILE_LIMIT_BYTES = 64 * 1024 * 1024;
/** How long a pipe may stay open when the whole tree is gone: only an escaped process can hold it. */
const PIPE_LINGER_MS = 250;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type ProcessRequest = {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd: string;
  containment: Containment;
  /** Absent: the pipes that `spawn` makes. */
  pipes: OutputPipes | undefined;
  signal: AbortSignal;
  options: RunOptions;
};

/** Runs a contained command from start to "nothing is left of it". The contract is `Sandbox.runCommand`'s. */
export async function runProcess(request: ProcessRequest): Promise<CommandResult> {
  await assertFolder(request.cwd);
  if (request.signal.aborted) return neverStarted();
  const launch = request.containment.launch(request.argv, request.env);
  const startedAt = performance.now();
  const { child, pid, stdout, stderr } = await start(launch, request);
  const exited = exitOf(child);
  const [output, errors] = outputStreams(request.options);
  const outputsClosed = Promise.all([output.read(stdout), errors.read(stderr)]);
  const tree = launch.contain(pid);
  const { ended, report } = await endOf(child, exited, tree, request);
  await tree.sweep();
  await Promise.race([outputsClosed, delay(PIPE_LINGER_MS, undefined, { ref: false })]);
  stdout.destroy();
  stderr.destroy();
  await outputsClosed;
  await closeFiles([output, errors], request);
  if (!report.started && ended === 'exit') throw couldNotStart(request, errors.text());
  return {
    stdout: output.text(),
    stderr: errors.text(),
    exitCode: report.exitCode ?? (await exited),
    stdoutBytes: output.bytes,
    stderrBytes: errors.bytes,
    durationMs: performance.now() - startedAt,
    ended,
  };
}

type Started = { child: ChildProcess; pid: number; stdout: Readable; stderr: Readable };

async function start(launch: Launch, { pipes, cwd }: ProcessRequest): Promise<Started> {
  const opened = pipes && (await Promise.all([pipes.open(), pipes.open()]));
  try {
    const child = spawn(launch.file, launch.args, {
      cwd,
      env: launch.env,
      stdio: ['ignore', opened?.[0].stdio ?? 'pipe', opened?.[1].stdio ?? 'pipe', 'pipe'],
      detached: true,
    });
    const failure = await new Promise<Error | undefined>((resolve) => {
      child.once('spawn', () => resolve(undefined)).once('error', resolve);
    });
    const stdout = opened?.[0].readable ?? child.stdout;
    const stderr = opened?.[1].readable ?? child.stderr;
    if (failure || child.pid === undefined || !stdout || !stderr) {
      throw new WhetstoneError('sandbox-start', `A command could not be started: ${failure?.message}.`, {
        cause: failure,
        hint: 'Check the limits on processes and open files, and that /bin/sh exists.',
      });
    }
    return { child, pid: child.pid, stdout, stderr };
  } catch (error) {
    for (const pipe of opened ?? []) pipe.readable.destroy();
    throw error;
  } finally {
    for (const pipe of opened ?? []) pipe.closeWriteEnd();
  }
}

/** Waits for the end of the started process, and brings it about at the deadline or on abort. */
async function endOf(
  child: ChildProcess,
  exited: Promise<number>,
  tree: ContainedTree,
  { options, signal }: ProcessRequest,
): Promise<{ ended: CommandResult['ended']; report: ReturnType<typeof readLaunchReport> }> {
  let ended: CommandResult['ended'] = 'exit';
  const timers: NodeJS.Timeout[] = [];
  const killLater = (ms: number): void => {
    timers.push(setTimeout(() => void tree.kill(), ms));
  };
  const end = (reason: 'timeout' | 'abort'): void => {
    if (ended !== 'exit' || report.exitCode !== undefined) return;
    ended = reason;
    void tree.terminate();
    killLater(GRACE_MS);
  };
  const report = readLaunchReport(child.stdio[3] as Readable, ({ exitCode }) => {
    // The launcher gives what is left its grace; this is for a launcher that cannot.
    if (exitCode !== undefined && ended === 'exit') killLater(GRACE_MS + 1_000);
  });
  const onAbort = (): void => end('abort');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  if (options.timeoutMs !== undefined) {
    timers.push(setTimeout(() => end('timeout'), Math.min(options.timeoutMs, LONGEST_TIMER_MS)));
  }
  await exited;
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  return { ended, report };
}

/** The exit code of the started process: 128 + n when signal n ended it. Never rejects. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

function outputStreams(options: RunOptions): [OutputStream, OutputStream] {
  const { fileLimitBytes = DEFAULT_FILE_LIMIT_BYTES, mask } = options;
  return [
    new OutputStream({ onChunk: options.onStdout, file: options.stdoutFile, fileLimitBytes, mask }),
    new OutputStream({ onChunk: options.onStderr, file: options.stderrFile, fileLimitBytes, mask }),
  ];
}

async function closeFiles(streams: OutputStream[], { options }: ProcessRequest): Promise<void> {
  const closed = await Promise.allSettled(streams.map((stream) => stream.close()));
  const failed = closed.findIndex(({ status }) => status === 'rejected');
  const failure = closed[failed];
  if (failure?.status !== 'rejected') return;
  const where = failed === 0 ? options.stdoutFile : options.stderrFile;
  throw new WhetstoneError(
    'sandbox-output-file',
    `The output of a command could not be written: ${failure.reason.message}.`,
    {
      cause: failure.reason,
      ...(where === undefined ? {} : { where }),
      hint: 'Check that the folder exists and is writable, and that the disk is not full.',
    },
  );
}

async function assertFolder(path: string): Promise<void> {
  const entry = await stat(path).catch(() => undefined);
  if (entry?.isDirectory()) return;
  throw new WhetstoneError(
    'sandbox-cwd',
    `The working directory of a command is ${entry ? 'not a directory' : 'missing'}.`,
    {
      where: path,
      hint: 'A command of the task or the agent may have removed it.',
    },
  );
}

function couldNotStart({ argv }: ProcessRequest, stderr: string): WhetstoneError {
  return new WhetstoneError(
    'sandbox-start',
    `A command could not be started: ${stderr.trim() || 'its launcher died'}.`,
    {
      where: argv[0],
      hint: 'The launcher of the sandbox failed before the command ran; check memory and process limits.',
    },
  );
}

function neverStarted(): CommandResult {
  const exitCode = 128 + constants.signals.SIGTERM;
  return { stdout: '', stderr: '', exitCode, stdoutBytes: 0, stderrBytes: 0, durationMs: 0, ended: 'abort' };
}
