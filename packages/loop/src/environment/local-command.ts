import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { present } from '@whetstone/events/present';
import {
  BoundedOutput,
  commandInCgroup,
  drainOutput,
  endTree,
  holdGroup,
  OutputFile,
  releaseGroup,
  removeCgroup,
  treeOf,
} from '@whetstone/sandbox/process';
import { LONGEST_TIMER_MS } from '../control/clock.ts';
import { onAbort } from '../control/race-abort.ts';
import type { ExecOptions, ExecResult } from './execution-environment.ts';

/** Bytes that are kept of each of the two streams. The rest is counted. */
export const OUTPUT_LIMIT = 1024 * 1024;

export type LocalCommand = {
  argv: readonly [string, ...string[]];
  workingDirectory: string;
  env: Record<string, string>;
  /** See `ProcessTree.mark`; it is in `env` already. */
  mark: string;
  /** The folder of a cgroup for it, where this process can make one. */
  cgroup?: string;
};

/** Runs a command in its own process group until its tree has ended. `overflowPath` names a file for long output. */
export async function runLocalCommand(
  command: LocalCommand,
  options: ExecOptions,
  overflowPath: () => string,
): Promise<ExecResult> {
  const started = performance.now();
  const { child, tree, exited, drained } = startLocal(command, 'ignore');
  const stop = stopAfter(options);
  const output = collectOutput(child, overflowPath, (stream, text) => {
    stop.heard();
    options.onOutput?.({ stream, text });
  });
  try {
    const ended = await Promise.race([exited.then(() => 'exited' as const), stop.reached]);
    stop.release();
    if (ended !== 'exited' && tree) await endTree(tree);
    const { exitCode, signal } = await exited;
    await drained();
    return {
      ...output.result(),
      exitCode,
      ...present({ signal }),
      timedOut: ended === 'timedOut' || ended === 'inactive',
      ...(ended === 'inactive' && { inactive: true }),
      aborted: ended === 'aborted',
      durationMs: Math.round(performance.now() - started),
    };
  } finally {
    stop.release();
    output.close();
  }
}

export type Exit = { exitCode: number | undefined; signal?: string };

/** Starts a command as the leader of its own process group, which ends with this process. */
export function startLocal(command: LocalCommand, stdin: 'ignore' | 'pipe') {
  const { argv, workingDirectory: cwd, env, cgroup } = command;
  const grouped = cgroup === undefined ? undefined : commandInCgroup(cgroup, argv, { cwd, path: env.PATH });
  const [file, ...args] = grouped ?? argv;
  const child = spawn(file, args, {
    cwd,
    env,
    detached: process.platform !== 'win32',
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
  });
  const { pid, stdout, stderr } = child;
  if (pid !== undefined) holdGroup(pid);
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve({ exitCode: code ?? undefined, ...(signal && { signal }) });
    });
  });
  // Awaited later; a failed spawn must not count as unhandled until then.
  exited.catch(() => {});
  return {
    child,
    /** Absent if the command could not be started. */
    tree: pid === undefined ? undefined : treeOf(pid, command.mark, grouped && cgroup),
    /** Rejects if the command could not be started. */
    exited,
    /** After the exit: reads what is left of the output. Whoever started the command has listeners on it. */
    async drained(): Promise<void> {
      await Promise.all([stdout, stderr].map((stream) => stream && drainOutput(stream)));
      if (pid !== undefined) releaseGroup(pid);
      if (cgroup !== undefined) removeCgroup(cgroup);
    },
  };
}

const LINE_FEED = 0x0a;

const countLineFeeds = (text: string): number => text.split('\n').length - 1;

function stopAfter({ timeoutMs, inactivityTimeoutMs, signal }: ExecOptions) {
  const { promise: reached, resolve: stop } = Promise.withResolvers<'timedOut' | 'inactive' | 'aborted'>();
  const after = (milliseconds: number | undefined, end: 'timedOut' | 'inactive') =>
    milliseconds ? setTimeout(() => stop(end), Math.min(milliseconds, LONGEST_TIMER_MS)) : undefined;
  const timer = after(timeoutMs, 'timedOut');
  const silence = after(inactivityTimeoutMs, 'inactive');
  const listening = onAbort(signal, () => stop('aborted'));
  return {
    reached,
    heard: () => void silence?.refresh(),
    release: () => {
      clearTimeout(timer);
      clearTimeout(silence);
      listening[Symbol.dispose]();
    },
  };
}

/** The two streams of one command: bounded in memory, and whole in a file from the moment that the bound is reached. */
function collectOutput(
  child: ChildProcess,
  overflowPath: () => string,
  onText: (stream: 'stdout' | 'stderr', text: string) => void,
) {
  const kept = { stdout: new BoundedOutput(OUTPUT_LIMIT), stderr: new BoundedOutput(OUTPUT_LIMIT) };
  const arrived = { characters: 0, lines: 0 };
  let overflow: OutputFile | 'refused' | undefined;
  let outputFile: string | undefined;

  /** To be called while both streams are whole in memory, so that the file begins with the first byte. */
  const openOverflow = () => {
    overflow = 'refused';
    try {
      const path = overflowPath();
      const file = new OutputFile(path);
      for (const output of Object.values(kept)) file.write(output.bytes());
      if (!file.error) [overflow, outputFile] = [file, path];
    } catch {
      // Without the file, the bounded output has to do.
    }
  };

  for (const name of ['stdout', 'stderr'] as const) {
    const decoder = new StringDecoder('utf8');
    child[name]?.on('data', (chunk: Buffer) => {
      if (!overflow && kept[name].totalBytes + chunk.length > OUTPUT_LIMIT) openOverflow();
      kept[name].append(chunk);
      if (overflow instanceof OutputFile) overflow.write(chunk);
      const text = decoder.write(chunk);
      arrived.characters += text.length;
      for (let at = 0; at < chunk.length; at += 1) if (chunk[at] === LINE_FEED) arrived.lines += 1;
      if (text !== '') onText(name, text);
    });
    // A pipe that breaks while its process is killed is expected.
    child[name]?.on('error', () => {});
  }
  return {
    result: () => {
      const [stdout, stderr] = [kept.stdout.text(), kept.stderr.text()];
      const droppedBytes = kept.stdout.droppedBytes + kept.stderr.droppedBytes;
      const dropped = {
        characters: arrived.characters - stdout.length - stderr.length,
        lines: arrived.lines - countLineFeeds(stdout) - countLineFeeds(stderr),
      };
      return {
        stdout,
        stderr,
        droppedBytes,
        ...(droppedBytes > 0 && { dropped }),
        ...present({ outputFile }),
      };
    },
    close: () => {
      if (overflow instanceof OutputFile) overflow.close();
    },
  };
}
