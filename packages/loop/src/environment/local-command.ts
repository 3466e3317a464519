import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { ExecOptions, ExecResult } from './execution-environment.ts';
import { OutputCollector } from './output-collector.ts';
import { endProcessTree, killProcessGroup } from './process-tree.ts';

/** Kept of each of the two streams; the rest is counted. */
const OUTPUT_LIMIT = 1024 * 1024;

/** A background child may hold the pipes open for ever: after the exit they get this long to run dry. */
const DRAIN_MS = 250;

/** The groups that run now; one exit handler serves them all, and none is installed while nothing runs. */
const runningGroups = new Set<number>();
const killRunningGroups = () => runningGroups.forEach(killProcessGroup);

export type LocalCommand = {
  argv: readonly [string, ...string[]];
  workingDirectory: string;
  env: Record<string, string>;
  /** See `ProcessTree.mark`; it is in `env` already. */
  mark: string;
};

/**
 * Runs one command in its own process group. Resolves when it has exited and its pipes are drained, or when a timeout
 * or an abort has ended its whole tree.
 */
export async function runLocalCommand(command: LocalCommand, options: ExecOptions): Promise<ExecResult> {
  const started = performance.now();
  const [file, ...args] = command.argv;
  const child = spawn(file, args, {
    cwd: command.workingDirectory,
    env: command.env,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const exited = waitForExit(child);
  const stdout = collect(child.stdout, (text) => options.onOutput?.({ stream: 'stdout', text }));
  const stderr = collect(child.stderr, (text) => options.onOutput?.({ stream: 'stderr', text }));
  if (child.pid !== undefined) track(child.pid);
  try {
    const ended = await endedOrStopped(exited, options);
    if (ended !== 'exited') await endProcessTree({ ...groupOf(child), mark: command.mark });
    const { exitCode, signal } = await exited;
    await drain(child);
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
      exitCode,
      ...(signal === undefined ? {} : { signal }),
      timedOut: ended === 'timedOut',
      aborted: ended === 'aborted',
      durationMs: Math.round(performance.now() - started),
    };
  } finally {
    if (child.pid !== undefined) untrack(child.pid);
  }
}

type Exit = { exitCode: number | undefined; signal?: string };

function waitForExit(child: ChildProcess): Promise<Exit> {
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve({ exitCode: code ?? undefined, ...(signal ? { signal } : {}) });
    });
  });
  // Awaited later; a failed spawn must not count as unhandled until then.
  exited.catch(() => {});
  return exited;
}

async function endedOrStopped(
  exited: Promise<Exit>,
  { timeoutMs, signal }: ExecOptions,
): Promise<'exited' | 'timedOut' | 'aborted'> {
  if (signal?.aborted) return 'aborted';
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'timedOut' | 'aborted'>();
  const abort = () => stop('aborted');
  const timer = timeoutMs ? setTimeout(() => stop('timedOut'), timeoutMs) : undefined;
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([exited.then(() => 'exited' as const), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function collect(stream: NodeJS.ReadableStream, onText: (text: string) => void): OutputCollector {
  const collector = new OutputCollector(OUTPUT_LIMIT);
  const decoder = new StringDecoder('utf8');
  stream.on('data', (chunk: Buffer) => {
    collector.push(chunk);
    const text = decoder.write(chunk);
    if (text !== '') onText(text);
  });
  // A pipe that breaks while its process is killed is no news.
  stream.on('error', () => {});
  return collector;
}

async function drain(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const closed = Promise.all(
    streams.map(
      (stream) => new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', resolve))),
    ),
  );
  const { promise: waited, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, DRAIN_MS);
  await Promise.race([closed, waited]);
  clearTimeout(timer);
  for (const stream of streams) stream.destroy();
}

function groupOf(child: ChildProcess): { group?: number } {
  return child.pid === undefined ? {} : { group: child.pid };
}

function track(group: number): void {
  if (runningGroups.size === 0) process.on('exit', killRunningGroups);
  runningGroups.add(group);
}

function untrack(group: number): void {
  runningGroups.delete(group);
  if (runningGroups.size === 0) process.off('exit', killRunningGroups);
}
