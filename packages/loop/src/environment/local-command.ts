import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { present } from '@whetstone/events/present';
import type { ExecOptions, ExecResult } from './execution-environment.ts';
import { holdGroup, releaseGroup } from './exit-watcher.ts';
import { OutputCollector } from './output-collector.ts';
import { OutputFile } from './output-file.ts';
import { endProcessTree } from './process-tree.ts';

/** Kept of each of the two streams; the rest is counted. */
export const OUTPUT_LIMIT = 1024 * 1024;

/** A background child may hold the pipes open for ever: after the exit they get this long to run dry. */
const DRAIN_MS = 250;

export type LocalCommand = {
  argv: readonly [string, ...string[]];
  workingDirectory: string;
  env: Record<string, string>;
  /** See `ProcessTree.mark`; it is in `env` already. */
  mark: string;
};

/**
 * Runs one command in its own process group. Resolves when it has exited and its pipes are drained, or when a timeout
 * or an abort has ended its whole tree. Output beyond what memory keeps goes to the file that `overflowPath` names.
 */
export async function runLocalCommand(
  command: LocalCommand,
  options: ExecOptions,
  overflowPath: () => string,
): Promise<ExecResult> {
  const started = performance.now();
  const child = spawnGroup(command, 'ignore');
  const exited = waitForExit(child);
  const stop = stopAfter(options);
  const output = new CommandOutput(overflowPath, (stream, text) => {
    stop.heard();
    options.onOutput?.({ stream, text });
  });
  for (const stream of ['stdout', 'stderr'] as const) output.read(stream, child[stream]);
  try {
    const ended = await Promise.race([exited.then(() => 'exited' as const), stop.reached]);
    stop.release();
    if (ended !== 'exited') await endGroup(child, command.mark);
    const { exitCode, signal } = await exited;
    await drain(child);
    return {
      ...output.result(),
      exitCode,
      ...present({ signal }),
      timedOut: ended === 'timedOut' || ended === 'inactive',
      ...(ended === 'inactive' ? { inactive: true } : {}),
      aborted: ended === 'aborted',
      durationMs: Math.round(performance.now() - started),
    };
  } finally {
    stop.release();
    output.close();
    release(child);
  }
}

/** Starts a command as the leader of its own process group, which dies with this process until `release`. */
export function spawnGroup(command: LocalCommand, stdin: 'ignore' | 'pipe'): ChildProcess {
  const [file, ...args] = command.argv;
  const child = spawn(file, args, {
    cwd: command.workingDirectory,
    env: command.env,
    detached: process.platform !== 'win32',
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
  });
  if (child.pid !== undefined) holdGroup(child.pid);
  return child;
}

export function release(child: ChildProcess): void {
  if (child.pid !== undefined) releaseGroup(child.pid);
}

export type Exit = { exitCode: number | undefined; signal?: string };

/** Rejects where the command could not be started. */
export function waitForExit(child: ChildProcess): Promise<Exit> {
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

/** Ends what a command started. `mark`: see `ProcessTree.mark`. */
export async function endGroup(child: ChildProcess, mark: string): Promise<void> {
  await endProcessTree({ ...present({ group: child.pid }), mark });
}

type Stop = 'timedOut' | 'inactive' | 'aborted';

function stopAfter({ timeoutMs, inactivityTimeoutMs, signal }: ExecOptions) {
  const { promise: reached, resolve: stop } = Promise.withResolvers<Stop>();
  const abort = () => stop('aborted');
  const timer = timeoutMs ? setTimeout(() => stop('timedOut'), timeoutMs) : undefined;
  const silence = inactivityTimeoutMs ? setTimeout(() => stop('inactive'), inactivityTimeoutMs) : undefined;
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return {
    reached,
    heard: () => void silence?.refresh(),
    release: () => {
      clearTimeout(timer);
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
    },
  };
}

type StreamName = 'stdout' | 'stderr';

/** The two streams of one command: bounded in memory, and whole in a file from the moment that the bound is reached. */
class CommandOutput {
  readonly #collectors = {
    stdout: new OutputCollector(OUTPUT_LIMIT),
    stderr: new OutputCollector(OUTPUT_LIMIT),
  };
  readonly #overflowPath: () => string;
  readonly #onText: (stream: StreamName, text: string) => void;
  #overflow: { path: string; file: OutputFile } | 'refused' | undefined;

  constructor(overflowPath: () => string, onText: (stream: StreamName, text: string) => void) {
    this.#overflowPath = overflowPath;
    this.#onText = onText;
  }

  read(name: StreamName, stream: NodeJS.ReadableStream | null): void {
    const decoder = new StringDecoder('utf8');
    stream?.on('data', (chunk: Buffer) => {
      const collector = this.#collectors[name];
      if (collector.totalBytes + chunk.length > OUTPUT_LIMIT) this.#openOverflow();
      collector.push(chunk);
      if (typeof this.#overflow === 'object') this.#overflow.file.write(chunk);
      const text = decoder.write(chunk);
      if (text !== '') this.#onText(name, text);
    });
    // A pipe that breaks while its process is killed is no news.
    stream?.on('error', () => {});
  }

  /** Both collectors still hold all they got, so that the file begins with the first byte. */
  #openOverflow(): void {
    if (this.#overflow) return;
    try {
      const path = this.#overflowPath();
      const file = new OutputFile(path);
      for (const collector of Object.values(this.#collectors)) file.write(collector.bytes());
      this.#overflow = { path, file };
    } catch {
      this.#overflow = 'refused';
    }
  }

  result(): Pick<ExecResult, 'stdout' | 'stderr' | 'droppedBytes' | 'outputFile'> {
    const { stdout, stderr } = this.#collectors;
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
      ...(typeof this.#overflow === 'object' ? { outputFile: this.#overflow.path } : {}),
    };
  }

  close(): void {
    if (typeof this.#overflow === 'object') this.#overflow.file.close();
  }
}

/** Waits for the end of a child's pipes, not for ever, and closes them. */
export async function drain(child: ChildProcess): Promise<void> {
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
