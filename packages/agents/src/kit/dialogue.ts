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
};

/**
 * Runs a program that is asked and answers until its turn is over: a server, a protocol, the bridge to an SDK. `hold`
 * leads the dialogue and resolves when the turn is over; then the program's input is closed, and it has a moment to end
 * by itself before it is ended. `options` as for any command: what it prints reaches `onStdout` before `hold`.
 */
export async function runDialogue(
  run: (options: RunOptions) => Promise<CommandResult>,
  options: RunOptions,
  hold: (peer: Peer) => Promise<void>,
): Promise<CommandResult> {
  const stdin = new PassThrough();
  stdin.on('error', () => {});
  const inbox = createInbox();
  const ending = new AbortController();
  const signals = [ending.signal, ...(options.signal ? [options.signal] : [])];
  let hasEnded = false;
  const running = run({
    ...options,
    stdin,
    signal: AbortSignal.any(signals),
    onStdout(chunk) {
      options.onStdout?.(chunk);
      inbox.push(chunk);
    },
  }).finally(() => {
    hasEnded = true;
    inbox.end();
  });
  const peer: Peer = {
    send(message) {
      if (stdin.writable) stdin.write(`${JSON.stringify(message)}\n`);
    },
    next: inbox.next,
  };
  try {
    await Promise.race([hold(peer), running]);
  } catch (error) {
    // A dialogue with a program that has ended cannot go on; how the program ended says more.
    if (hasEnded) return await running;
    ending.abort();
    await running;
    throw error;
  }
  stdin.end();
  const patience = setTimeout(() => ending.abort(), CLOSING_MS);
  const result = await running.finally(() => clearTimeout(patience));
  // The turn of a program that stays was over.
  const isOurs = ending.signal.aborted && options.signal?.aborted !== true && result.ended === 'abort';
  return isOurs ? { ...result, ended: 'exit', exitCode: 0 } : result;
}

/** How long a program may take to end once its input is closed. */
const CLOSING_MS = 2_000;

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
