import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { PolicyDecision, PolicyRequest } from '@whetstone/agents';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { inheritedEnvironment } from '@whetstone/sandbox';
import type {
  EvalDescription,
  EvalFile,
  EvalFileProblem,
  FromWorker,
  ReplayedTurn,
  Settled,
  TestCalls,
  Tested,
  TestRequest,
  ToWorker,
} from './protocol.ts';

/** How long the code of an eval may compute, or wait for nothing, without asking anything of the run. */
const OWN_CODE_MS = 60_000;
/** How long it may go on after its time limit, to judge what there is. */
const GRACE_MS = 1000;

const MAIN = fileURLToPath(new URL(`./worker/main${import.meta.url.slice(-3)}`, import.meta.url));

/** The processes that run the code of evals. Each runs one attempt at a time, and serves the next one. */
export interface EvalWorkers extends AsyncDisposable {
  /** The evals of these files, in order, and the files that could not be read. */
  describe(files: readonly EvalFile[]): Promise<{ evals: EvalDescription[]; problems: EvalFileProblem[] }>;
  /** Opens an attempt. Disposing it gives its process back, or ends it if its code is still running. */
  open(request: TestRequest, host: TestHost): EvalAttempt;
  /** Ends the processes that there are. The next call starts new ones. */
  end(): Promise<void>;
}

export type TestHost = {
  calls: TestCalls;
  /** Called with what the code logs and prints. */
  onLog: (text: string) => void;
  /** Aborts at the time limit of the attempt, and when the run is aborted. */
  signal: AbortSignal;
};

export interface EvalAttempt extends Disposable {
  /** Calls the test function. Resolves when it has ended; a code that hangs, or ends its process, is a failure. */
  run(): Promise<Tested>;
  /** Asks the eval what it answers to a question of the agent; `undefined` leaves it to the policy. */
  ask(session: number, request: PolicyRequest): Promise<PolicyDecision | undefined>;
  /** Judges the assertions. Rejects with an EvalCodeError if that cannot be done. */
  settle(): Promise<Settled>;
  /** Calls the test function on stored turns, in place of `run`, and judges its assertions: one message for both. */
  replay(turns: ReplayedTurn[]): Promise<Tested & Settled>;
}

/** The code of an eval hangs, or has ended its process. */
export class EvalCodeError extends Error {}

export function openEvalWorkers({ ownCodeMs = OWN_CODE_MS } = {}): EvalWorkers {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const take = (): Worker => {
    const worker = idle.pop() ?? startWorker(() => all.delete(worker));
    all.add(worker);
    return worker;
  };
  const end = async () => {
    idle.length = 0;
    await Promise.all([...all].map((worker) => worker.kill()));
  };
  const giveBack = (worker: Worker) => void (worker.isAlive() && idle.push(worker));

  return {
    async describe(files) {
      const worker = take();
      const { evals, problems } = await worker.ask(
        { type: 'describe', files: [...files] },
        'described',
        ownCodeMs,
      );
      giveBack(worker);
      return { evals, problems };
    },
    open(request, host) {
      const worker = take();
      let isOpen = false;
      const { signal } = host;
      const abort = () => worker.tell({ type: 'abort', reason: messageOf(signal.reason) });
      worker.serve(host);
      const limits = { ownCodeMs, signal };
      return {
        async run() {
          isOpen = true;
          signal.addEventListener('abort', abort, { once: true });
          try {
            const { tested } = await worker.ask(
              { type: 'test', request },
              'tested',
              ownCodeMs,
              limits.signal,
            );
            return tested;
          } catch (error) {
            if (error instanceof EvalCodeError) return { failure: { message: error.message } };
            throw error;
          }
        },
        ask: (session, request) => worker.decide(session, request, signal),
        async settle() {
          // What there is can be judged after the time limit as well.
          const limit = signal.aborted ? undefined : signal;
          const { settled } = await worker.ask({ type: 'settle' }, 'settled', ownCodeMs, limit);
          isOpen = false;
          return settled;
        },
        async replay(turns) {
          isOpen = true;
          try {
            const { replayed } = await worker.ask(
              { type: 'replay', request, turns },
              'replayed',
              ownCodeMs,
              limits.signal,
            );
            isOpen = false;
            return replayed;
          } catch (error) {
            if (error instanceof EvalCodeError)
              return { failure: { message: error.message }, assertions: [] };
            throw error;
          }
        },
        [Symbol.dispose]() {
          signal.removeEventListener('abort', abort);
          worker.serve(undefined);
          if (isOpen) worker.kill();
          else giveBack(worker);
        },
      };
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

type Received<Type extends FromWorker['type']> = Extract<FromWorker, { type: Type }>;

type Worker = {
  isAlive(): boolean;
  tell(message: ToWorker): void;
  /** Sends a message and waits for the one of that type. Rejects with an EvalCodeError. */
  ask<Type extends FromWorker['type']>(
    message: ToWorker,
    type: Type,
    ownCodeMs: number,
    signal?: AbortSignal,
  ): Promise<Received<Type>>;
  /** Resolves with `undefined` also when the process has ended, or the signal aborts. */
  decide(session: number, request: PolicyRequest, signal: AbortSignal): Promise<PolicyDecision | undefined>;
  /** Whose calls are answered from now on. */
  serve(host: TestHost | undefined): void;
  kill(): Promise<void>;
};

function startWorker(onExit: () => void): Worker {
  // Nothing of the user's environment that looks like a credential, and none of what `.env` added.
  const { HOME, TMPDIR } = process.env;
  // A process inherits the cache of compiled code only by this variable.
  const own = present({ HOME, TMPDIR, NODE_COMPILE_CACHE: getCompileCacheDir() });
  const child = fork(MAIN, {
    env: { ...inheritedEnvironment(process.env), ...own },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let host: TestHost | undefined;
  let waiting: Waiting | undefined;
  const questions = new Map<number, (decision?: PolicyDecision) => void>();
  let asked = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => host?.onLog(text));
  }
  child.on('message', (received) => {
    const message = received as FromWorker;
    if (message.type === 'log') host?.onLog(`${message.text}\n`);
    else if (message.type === 'decided') questions.get(message.question)?.(message.decision);
    else if (message.type === 'waiting') waiting?.waits();
    else if (message.type === 'call') void answer(child, message, host, waiting);
    else waiting?.received(message);
  });
  child.once('exit', (code, signal) => {
    onExit();
    for (const decided of questions.values()) decided();
    waiting?.failed(`the eval's code ended its process (${signal ?? `exit code ${code}`})`);
  });
  child.once('error', (error) => waiting?.failed(`the process of the evals failed: ${error.message}`));
  const kill = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null && child.connected,
    tell: (message) => void (child.connected && child.send(message)),
    ask(message, type, ownCodeMs, signal) {
      waiting = waitFor(type, { ownCodeMs, signal, kill: () => void kill() });
      child.send(message);
      return waiting.promise as Promise<never>;
    },
    async decide(session, request, signal) {
      if (!child.connected || signal.aborted) return undefined;
      const question = asked++;
      const { promise, resolve } = Promise.withResolvers<PolicyDecision | undefined>();
      const leave = () => resolve(undefined);
      signal.addEventListener('abort', leave, { once: true });
      questions.set(question, resolve);
      child.send({ type: 'asked', question, session, request } satisfies ToWorker);
      const decision = await promise;
      signal.removeEventListener('abort', leave);
      questions.delete(question);
      return decision;
    },
    serve(next) {
      host = next;
    },
    kill,
  };
}

type Waiting = {
  promise: Promise<FromWorker>;
  received(message: FromWorker): void;
  failed(why: string): void;
  /** Counts the calls that the run is answering: the code then only waits. */
  calls(change: 1 | -1): void;
  /** The code waits for something of its own, which only the limit of its attempt ends. */
  waits(): void;
};

/** Waits for a message, and ends the process if its code runs too long by itself or past the limit of its attempt. */
function waitFor(
  type: FromWorker['type'],
  { ownCodeMs, signal, kill }: { ownCodeMs: number; signal: AbortSignal | undefined; kill: () => void },
): Waiting {
  const { promise, resolve, reject } = Promise.withResolvers<FromWorker>();
  let timer: NodeJS.Timeout | undefined;
  let open = 0;
  const end = (why: string) => {
    finish();
    reject(new EvalCodeError(why));
    kill();
  };
  const restart = () => {
    clearTimeout(timer);
    const [limit, why] = signal?.aborted
      ? [GRACE_MS, `the eval's code did not end within ${GRACE_MS / 1000} s of the time limit of its attempt`]
      : [
          ownCodeMs,
          `the eval's code did nothing but compute for ${ownCodeMs / 1000} s, or waited for nothing`,
        ];
    if (open === 0 && !isOver) timer = setTimeout(end, limit, why);
  };
  let isOver = false;
  const finish = () => {
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', restart);
  };
  signal?.addEventListener('abort', restart, { once: true });
  restart();
  return {
    promise,
    received(message) {
      if (message.type !== type) return;
      finish();
      resolve(message);
    },
    failed(why) {
      finish();
      reject(new EvalCodeError(why));
    },
    calls(change) {
      open += change;
      restart();
    },
    waits() {
      if (signal && !signal.aborted) restart();
    },
  };
}

async function answer(
  child: ChildProcess,
  { call, name, args }: Received<'call'>,
  host: TestHost | undefined,
  waiting: Waiting | undefined,
): Promise<void> {
  waiting?.calls(1);
  let message: ToWorker;
  try {
    const serve = host?.calls[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    message = { type: 'answer', call, value: await serve?.(...args) };
  } catch (error) {
    message = { type: 'answer', call, error: messageOf(error) };
  }
  waiting?.calls(-1);
  if (child.connected) child.send(message);
}
