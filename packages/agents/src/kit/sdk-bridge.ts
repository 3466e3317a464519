import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@whetstone/errors';
import { LineReader } from './line-reader.ts';

/** What the program of a bridge has for one turn. All that the two sides exchange is JSON, one message a line. */
export type Bridge<Sdk, Request> = {
  /** The module of the SDK. */
  sdk: Sdk;
  /** What the host asks of the turn. */
  request: Request;
  /** Prints a message of the SDK as it is. */
  print(message: unknown): Promise<void>;
  /** Asks the host for a decision. */
  ask(question: object): Promise<Record<string, unknown>>;
  /** Aborts when the host has gone. */
  signal: AbortSignal;
  /** Sets what to do before the program ends: after its last turn, when the host has gone, or at `SIGTERM`. */
  beforeEnd(action: () => Promise<void>): void;
};

/**
 * The body of a program that stands between the host and an SDK: it runs in the sandbox, so that the SDK never runs in the
 * host. Its argument is the module of the SDK; with a second one, `--version`, it only says which. It reads a request,
 * leads its turn and ends; after a request with `stays` it waits for the next one. Beside the messages of the SDK it prints
 * `sdk.loaded`, `sdk.ask`, `sdk.failed` if the SDK threw and, if it stays, `sdk.ended`. It imports nothing but Node's own
 * modules, because it may start with every turn.
 */
export async function runBridge<Sdk, Request extends object>(
  turn: (bridge: Bridge<Sdk, Request>) => Promise<void>,
): Promise<void> {
  const [, , module = '', option] = process.argv;
  if (option === '--version') {
    const { sdk, version } = packageOf(module);
    process.stdout.write(`${sdk} ${version}\n`);
    return;
  }
  // An SDK may write to the console; only messages belong to the standard output.
  console.log = console.error;
  console.info = console.error;
  const { nextRequest, ask, signal, beforeEnd, end } = listen();
  for (;;) {
    const request = await nextRequest();
    try {
      const sdk = (await import(pathToFileURL(module).href)) as Sdk;
      await print({ type: 'sdk.loaded', ...packageOf(module) });
      await turn({ sdk, request: request as Request, print, ask, signal, beforeEnd });
    } catch (error) {
      process.exitCode = 1;
      await print({ type: 'sdk.failed', message: messageOf(error) });
    }
    // What the SDK left running ends with the program.
    if (request.stays !== true || signal.aborted) await end();
    await print({ type: 'sdk.ended' });
  }
}

const LINE_LIMIT_BYTES = 64 * 1024 * 1024;

type Message = Record<string, unknown>;

/** Reads the messages of the host: requests, and answers to questions. */
function listen() {
  const gone = new AbortController();
  const questions = new Map<number, (answer: Message) => void>();
  let asked = 0;
  const requests: Message[] = [];
  let last: (() => Promise<void>) | undefined;
  const end = async (): Promise<never> => {
    await last?.().catch(() => undefined);
    process.exit();
  };
  let begin: ((request: Message) => void) | undefined;
  const receive = (message: Message): void => {
    if (typeof message.answer === 'number') {
      questions.get(message.answer)?.(message);
      questions.delete(message.answer);
    } else if (begin) {
      begin(message);
      begin = undefined;
    } else {
      requests.push(message);
    }
  };
  const lines = new LineReader(
    (line) => line !== 'too-long' && receive(JSON.parse(line.toString('utf8'))),
    LINE_LIMIT_BYTES,
    '\n',
  );
  process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  process.stdin.on('end', () => {
    gone.abort();
    // Between two turns there is nothing to end.
    if (begin) void end();
  });
  return {
    signal: gone.signal,
    end,
    beforeEnd(action: () => Promise<void>): void {
      if (!last) process.once('SIGTERM', () => void end());
      last = action;
    },
    nextRequest: (): Promise<Message> =>
      new Promise((resolve) => {
        const waiting = requests.shift();
        if (waiting) resolve(waiting);
        else if (gone.signal.aborted) void end();
        else begin = resolve;
      }),
    async ask(question: object): Promise<Message> {
      asked += 1;
      const id = asked;
      const answered = new Promise<Message>((resolve) => questions.set(id, resolve));
      await print({ type: 'sdk.ask', id, ...question });
      return await answered;
    },
  };
}

/** Resolves when the line is written: a reader that is slow slows the SDK, and nothing is lost when the program ends. */
const print = (message: unknown): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve());
  });

/** Name and version of the package that a file belongs to. */
function packageOf(file: string): { sdk?: string; version?: string } {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (name !== undefined && version !== undefined) return { sdk: name, version };
  }
  return {};
}
