import { type Stats, statSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import { startProgram } from '../process/launcher.ts';
import { GRACE_MS } from '../process/process-tree.ts';
import type { CommandResult, RunOptions } from '../sandbox.ts';
import type {
  CommandRunner,
  ContainedTree,
  Containment,
  Hiding,
  Lent,
  RunningCommand,
} from './containment.ts';
import { OutputStream } from './output-stream.ts';

/** How long to wait after KILL. A process that still runs hangs in the kernel, and waiting for it would never end. */
const KILL_LIMIT_MS = 30_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type ProcessRequest = {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd: string;
  containment: Containment | CommandRunner;
  hiding?: Hiding | undefined;
  /** Control groups that the command runs in. */
  groups?: readonly string[] | undefined;
  /** `cwd` as the command sees it. */
  folder: string;
  lent?: Lent | undefined;
  /** Each ends the command. `AbortSignal.any` takes longer than all that is done with them. */
  signals: readonly AbortSignal[];
  options: RunOptions;
};

/** Runs a contained command until nothing is left of it. The contract is that of `Sandbox.runCommand`. */
export async function runProcess(request: ProcessRequest): Promise<CommandResult> {
  if (request.signals.some(({ aborted }) => aborted)) return neverStarted();
  const startedAt = performance.now();
  const { options } = request;
  const started = await startProcess(request).catch(cannotStart);
  options.onStart?.();
  const [stdout, stderr] = outputStreams(started, options);
  const { tree } = started;
  const { ended, report } = await endOf(started, tree, request).catch(async (error) => {
    await Promise.allSettled([stdout.finish(), stderr.finish()]);
    throw error;
  });
  await tree.sweep();
  await Promise.all([stdout.finish(), stderr.finish(), report.closed]);
  if (!report.started && ended === 'exit') throw launcherFailed(request, stderr.text());
  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    exitCode: report.exitCode ?? (await started.exited),
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    durationMs: performance.now() - startedAt,
    ended,
  };
}

type End = { ended: CommandResult['ended']; report: LaunchReport };

/** Waits for the end of the launcher, and ends it at the deadline or on abort. */
async function endOf(
  started: RunningCommand,
  tree: ContainedTree,
  { options, signals }: ProcessRequest,
): Promise<End> {
  const timers: NodeJS.Timeout[] = [];
  let isOver = false;
  // The launcher's last report may be read after its end. A kill planned then would hit another process with its id.
  const after = (ms: number, action: () => void): void => {
    if (!isOver) timers.push(setTimeout(action, Math.min(ms, LONGEST_TIMER_MS)));
  };
  const stuck = Promise.withResolvers<never>();
  const killAfter = (ms: number): void => {
    after(ms, () => void tree.kill().catch(stuck.reject));
    after(ms + KILL_LIMIT_MS, () => stuck.reject(outlivesKill()));
  };
  let ended: End['ended'] = 'exit';
  // The launcher itself gives what is left time to end. The kill is for a launcher that cannot.
  const report = new LaunchReport(started.report, () => killAfter(GRACE_MS + 1_000));
  const end = (reason: 'timeout' | 'abort'): void => {
    if (ended !== 'exit' || report.exitCode !== undefined) return;
    ended = reason;
    tree.terminate().catch(stuck.reject);
    killAfter(GRACE_MS);
  };
  const onAbort = (): void => end('abort');
  for (const signal of signals) {
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  }
  if (options.timeoutMs !== undefined) after(options.timeoutMs, () => end('timeout'));
  try {
    await Promise.race([started.exited, stuck.promise]);
    return { ended, report };
  } finally {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', onAbort);
  }
}

function outputStreams(
  { stdout, stderr }: RunningCommand,
  { onStdout, onStderr, stdoutFile, stderrFile, fileLimitBytes, mask }: RunOptions,
): [OutputStream, OutputStream] {
  return [
    new OutputStream(stdout, { onChunk: onStdout, file: stdoutFile, fileLimitBytes, mask }),
    new OutputStream(stderr, { onChunk: onStderr, file: stderrFile, fileLimitBytes, mask }),
  ];
}

function launcherFailed({ argv }: ProcessRequest, stderr: string): WhetstoneError {
  const reason = stderr.trim() || 'its launcher was killed from outside';
  return new WhetstoneError('sandbox-start-failed', `A command could not be started: ${reason}.`, {
    where: argv[0],
  });
}

function outlivesKill(): WhetstoneError {
  return new WhetstoneError('sandbox-command-stuck', 'A command was killed and still does not end.');
}

function neverStarted(): CommandResult {
  const exitCode = 128 + constants.signals.SIGTERM;
  return { stdout: '', stderr: '', exitCode, stdoutBytes: 0, stderrBytes: 0, durationMs: 0, ended: 'abort' };
}

/**
 * What a launcher reports on file descriptor 3, which the command does not inherit: `started` when the command is about
 * to run, `exited <code>` when it has ended while other processes of its tree may still run.
 */
class LaunchReport {
  started = false;
  exitCode: number | undefined;
  /** Resolves when the launcher has nothing more to report. */
  readonly closed: Promise<void>;

  /** `onExit` is called when the command has ended, which may be before its tree has. */
  constructor(stream: Readable, onExit: () => void) {
    let text = '';
    stream.setEncoding('latin1');
    stream.on('data', (chunk: string) => {
      text += chunk;
      this.started = text.startsWith('started\n');
      const code = /^exited (\d+)\n/m.exec(text)?.[1];
      if (code === undefined || this.exitCode !== undefined) return;
      this.exitCode = Number(code);
      onExit();
    });
    stream.on('error', () => {});
    this.closed = new Promise((resolve) => {
      stream.once('close', resolve);
    });
  }
}

/**
 * Starts a command. Without `stdin`, its input is empty.
 *
 * @throws WhetstoneError `sandbox-cwd-invalid` if the working directory is not a folder; otherwise what the start failed with
 */
async function startProcess(request: ProcessRequest): Promise<RunningCommand> {
  const { argv, env, hiding, folder, lent, cwd, groups, containment } = request;
  const { network, stdin } = request.options;
  assertFolder(cwd);
  if ('run' in containment) return await containment.run({ argv, env, folder, network, lent, stdin });
  const { contain, ...launch } = containment.launch(argv, env, { hiding, folder, network, lent });
  const { pid, ...started } = await startProgram({ ...launch, cwd, stdin, hasReport: true, groups });
  return { ...started, tree: contain(pid) };
}

function cannotStart(cause: NodeJS.ErrnoException): never {
  if (cause instanceof WhetstoneError) throw cause;
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

function assertFolder(path: string): void {
  const entry = folderOrFile(path);
  if (entry?.isDirectory()) return;
  const problem = entry ? 'is not a folder' : 'does not exist';
  throw new WhetstoneError('sandbox-cwd-invalid', `The working directory of a command ${problem}.`, {
    where: path,
  });
}

/** Synchronous, because a promise takes longer than looking. */
function folderOrFile(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
