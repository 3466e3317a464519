import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LineReader } from './line-reader.ts';

/** What the program of a bridge has for one turn. All that the two sides exchange is JSON, one message a line. */
export type Bridge<Sdk, Request> = {
  /** The module of the SDK. */
  sdk: Sdk;
  /** The first message of the host. */
  request: Request;
  /** Prints a message of the SDK as it is. */
  print(message: unknown): Promise<void>;
  /** Asks the host for a decision. */
  ask(question: object): Promise<Record<string, unknown>>;
  /** Aborts when the host has gone. */
  signal: AbortSignal;
};

/**
 * The body of a program that stands between the host and an SDK: it runs in the sandbox, so that the SDK never runs in the
 * host. Its argument is the module of the SDK; with a second one, `--version`, it only says which. It reads one request, leads one turn and ends. Beside the messages of the
 * SDK it prints `sdk.loaded`, `sdk.ask` and, if the SDK threw, `sdk.failed`. It imports nothing but Node's own modules,
 * because it starts with every turn.
 */
export async function runBridge<Sdk, Request>(
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
  const host = listen();
  try {
    const request = (await host.request) as Request;
    const sdk = (await import(pathToFileURL(module).href)) as Sdk;
    await print({ type: 'sdk.loaded', ...packageOf(module) });
    await turn({ sdk, request, print, ask: host.ask, signal: host.signal });
  } catch (error) {
    process.exitCode = 1;
    await print({ type: 'sdk.failed', message: error instanceof Error ? error.message : String(error) });
  }
  // What the SDK left running ends with the program.
  process.exit();
}

const LINE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Reads the messages of the host: the request, then the answers. */
function listen() {
  const gone = new AbortController();
  const open = new Map<number, (answer: Record<string, unknown>) => void>();
  let asked = 0;
  let begin: (request: unknown) => void = () => {};
  const request = new Promise<unknown>((resolve) => {
    begin = resolve;
  });
  let hasBegun = false;
  const lines = new LineReader(
    (line) => {
      if (line === 'too-long') return;
      const message: Record<string, unknown> = JSON.parse(line.toString('utf8'));
      if (!hasBegun) begin(message);
      hasBegun = true;
      if (typeof message.answer !== 'number') return;
      open.get(message.answer)?.(message);
      open.delete(message.answer);
    },
    LINE_LIMIT_BYTES,
    '\n',
  );
  process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  process.stdin.on('end', () => {
    gone.abort();
    // Without a request there is nothing to do, and nothing to end.
    if (!hasBegun) process.exit();
  });
  return {
    request,
    signal: gone.signal,
    ask: async (question: object): Promise<Record<string, unknown>> => {
      asked += 1;
      const id = asked;
      const answered = new Promise<Record<string, unknown>>((resolve) => open.set(id, resolve));
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
