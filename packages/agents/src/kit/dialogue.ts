import { PassThrough } from 'node:stream';
import { isJsonObject, type JsonObject, parseJson } from '@whetstone/events';
import type { CommandResult, RunOptions } from '@whetstone/sandbox';
import { LINE_LIMIT_BYTES, LineReader, STREAM_LIMIT_BYTES } from './line-reader.ts';

/** The program at the other end of a dialogue: it reads and writes JSON, one message a line. */
export type Peer = {
  /** Writes one message. Does nothing once the program has ended. */
  send(message: JsonObject): void;
  /** The next message of the program; `undefined` once it has ended. Lines that are no JSON objects are left out. */
  next(): Promise<JsonObject | undefined>;
  /** Ends the program with this turn, although it was to stay: nobody knows what it still does, or whether it answers. */
  discard(): void;
};

/** How a program ended. Without an exit code: the host ended it after its turn, or it stays for the next one. */
export type ProgramEnd = Omit<CommandResult, 'exitCode'> & { exitCode?: number };

/** Where the program of a session stays between its turns. */
export type KeptProgram = { program?: Program };

/**
 * Runs a program that is asked and answers until its turn is over: a server, a protocol, the bridge to an SDK. `hold`
 * leads the dialogue and resolves when the turn is over; then the program's input is closed, and it has a moment to end
 * by itself before it is ended. `options` as for any command: what it prints reaches `onStdout` before `hold`. At the time
 * limit and at an abort `leaving` aborts, and `hold` has a moment to take leave of the program before it is ended.
 *
 * With `kept`, the program stays for the next turn, which begins with the same peer. One that has ended, or that a turn
 * left or discarded, is started anew. The end of its sandbox ends it.
 */
export async function runDialogue(
  run: (options: RunOptions) => Promise<CommandResult>,
  { timeoutMs, signal, onStdout, ...options }: RunOptions,
  hold: (peer: Peer, leaving: AbortSignal) => Promise<void>,
  kept?: KeptProgram,
): Promise<ProgramEnd> {
  const before = kept?.program;
  if (kept) delete kept.program;
  const started = performance.now();
  const leaves = (ending: AbortController) => createLeave(ending, { timeoutMs, signal });
  const { program, leave } = before?.isRunning()
    ? { program: before, leave: leaves(before.ending) }
    : startProgram(run, options, leaves);
  program.listen(onStdout);
  const { running, ending } = program;
  try {
    await Promise.race([hold(program.peer, leave.signal), running]);
  } catch (error) {
    // A dialogue with a program that has ended, or that is left, cannot go on; how it ended says more.
    if (!program.isRunning()) return leave.ended(await running);
    ending.abort();
    const result = await running;
    if (leave.signal.aborted) return leave.ended(result);
    throw error;
  } finally {
    leave.done();
  }
  if (kept && program.canStay() && !leave.signal.aborted) {
    program.listen(undefined);
    kept.program = program;
    return { ...STILL_RUNNING, durationMs: performance.now() - started };
  }
  program.close();
  const patience = setTimeout(() => ending.abort(), CLOSING_MS);
  const result = await running.finally(() => clearTimeout(patience));
  if (leave.signal.aborted) return leave.ended(result);
  // The turn of a program that stays was over.
  const { exitCode, ...ended } = result;
  return result.ended === 'abort' ? { ...ended, ended: 'exit' } : { ...ended, exitCode };
}

/** The result of a turn whose program stays. */
const STILL_RUNNING = {
  ...{ stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0 },
  ended: 'exit' as const,
};

/** A program at the other end of a dialogue, for one turn or for several. */
type Program = {
  peer: Peer;
  ending: AbortController;
  running: Promise<CommandResult>;
  isRunning(): boolean;
  /** Whether another turn may use it. */
  canStay(): boolean;
  /** Passes on what the program prints from now on. */
  listen(onStdout: RunOptions['onStdout']): void;
  /** Closes its input. */
  close(): void;
};

function startProgram(
  run: (options: RunOptions) => Promise<CommandResult>,
  options: RunOptions,
  leaves: (ending: AbortController) => ReturnType<typeof createLeave>,
) {
  const stdin = new PassThrough();
  stdin.on('error', () => {});
  const inbox = createInbox();
  const ending = new AbortController();
  // A turn that was aborted before it began starts nothing.
  const leave = leaves(ending);
  let listener: RunOptions['onStdout'];
  let hasEnded = false;
  let isDiscarded = false;
  // Its first output comes later than the first listener.
  const running = run({
    ...options,
    stdin,
    signal: ending.signal,
    onStdout(chunk) {
      listener?.(chunk);
      inbox.push(chunk);
    },
  }).finally(() => {
    hasEnded = true;
    inbox.end();
  });
  const program: Program = {
    ...{ ending, running },
    peer: {
      send(message) {
        if (stdin.writable) stdin.write(`${JSON.stringify(message)}\n`);
      },
      next: inbox.next,
      discard() {
        isDiscarded = true;
      },
    },
    isRunning: () => !hasEnded,
    canStay: () => !hasEnded && !isDiscarded,
    listen(onStdout) {
      listener = onStdout;
    },
    close: () => stdin.end(),
  };
  return { program, leave };
}

/** How long a program may take to end once its input is closed, and a dialogue to end once it is left. */
const CLOSING_MS = 2_000;

/** Notices the time limit and the abort of a dialogue. */
function createLeave(
  ending: AbortController,
  { timeoutMs, signal }: { timeoutMs: number | undefined; signal: AbortSignal | undefined },
) {
  const leaving = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let reason: 'timeout' | 'abort' | undefined;
  const leave = (why: 'timeout' | 'abort') => {
    if (reason !== undefined) return;
    reason = why;
    leaving.abort();
    timers.push(setTimeout(() => ending.abort(), CLOSING_MS));
  };
  const onAbort = () => leave('abort');
  if (signal?.aborted) {
    onAbort();
    // A program that has not begun does not begin.
    ending.abort();
  }
  signal?.addEventListener('abort', onAbort);
  if (timeoutMs !== undefined) timers.push(setTimeout(() => leave('timeout'), timeoutMs));
  return {
    signal: leaving.signal,
    /** After this, neither counts any more. */
    done() {
      signal?.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
    },
    /** The result of a program that the dialogue was about to leave, or that ended by itself. */
    ended: (result: CommandResult): CommandResult =>
      reason === undefined ? result : { ...result, ended: reason },
  };
}

/** Messages that wait to be read. More than 64 MiB of them end the dialogue, as if the program had ended. */
function createInbox() {
  const messages: { message: JsonObject; bytes: number }[] = [];
  let bytes = 0;
  let waiting: ((message: JsonObject | undefined) => void) | undefined;
  let isClosed = false;

  function close(): void {
    isClosed = true;
    waiting?.(undefined);
  }

  function receive(line: Buffer | 'too-long'): void {
    if (line === 'too-long' || isClosed) return;
    const message = parseJson(line.toString('utf8'));
    if (!isJsonObject(message)) return;
    if (waiting) {
      waiting(message);
      waiting = undefined;
      return;
    }
    messages.push({ message, bytes: line.length });
    bytes += line.length;
    if (bytes > STREAM_LIMIT_BYTES) close();
  }

  async function next(): Promise<JsonObject | undefined> {
    const first = messages.shift();
    bytes -= first?.bytes ?? 0;
    if (first || isClosed) return first?.message;
    return await new Promise((resolve) => {
      waiting = resolve;
    });
  }

  const lines = new LineReader(receive, LINE_LIMIT_BYTES, '\n');
  return {
    push: (chunk: Buffer) => lines.push(chunk),
    end() {
      lines.end();
      close();
    },
    next,
  };
}
