// The process of the evals: loads their files and calls their code, one attempt at a time. It has neither the agents nor
// their credentials; what it needs of them it asks of the run.

import { flushCompileCache } from 'node:module';
import { present } from '@whetstone/events/present';
import type { FromWorker, TestCalls, TestRequest, ToWorker } from '../protocol.ts';
import { resolveWhetstone } from '../resolve-whetstone.ts';
import { describeFile } from './load-evals.ts';
import { replayTurns } from './replay-turns.ts';
import { type RunningTest, startTest } from './run-test.ts';

type Current = {
  test: RunningTest;
  abort: AbortController;
  /** Called with what the eval's code throws where nobody awaits it. */
  fail: (error: unknown) => void;
};

let current: Current | undefined;
let calls = 0;
const open = new Map<number, PromiseWithResolvers<unknown>>();

const tell = (message: FromWorker): void => void process.send?.(message);

const ask =
  (name: keyof TestCalls) =>
  (...args: unknown[]): Promise<never> => {
    const call = calls++;
    const answer = Promise.withResolvers<unknown>();
    open.set(call, answer);
    tell({ type: 'call', call, name, args });
    return answer.promise as Promise<never>;
  };

const asked: TestCalls = {
  ...{ send: ask('send'), changes: ask('changes'), check: ask('check'), content: ask('content') },
  ...{ judge: ask('judge'), masked: ask('masked'), user: ask('user'), judgeLane: ask('judgeLane') },
};

function begin(request: TestRequest, calls: TestCalls): Current {
  const abort = new AbortController();
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  const test = startTest(request, {
    calls,
    log: (text) => tell({ type: 'log', text }),
    signal: abort.signal,
    broken: broken.promise,
  });
  return { test, abort, fail: broken.reject };
}

async function handle(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'describe': {
      const found = [];
      for (const file of message.files) found.push(await describeFile(file));
      const problems = found.flatMap(({ problem }) => problem ?? []);
      tell({ type: 'described', evals: found.flatMap(({ evals }) => evals), problems });
      flushCompileCache(); // this process will be killed, and Node keeps compiled code only when one exits
      return;
    }
    case 'test':
      current = begin(message.request, asked);
      tell({ type: 'tested', tested: await current.test.run() });
      return;
    case 'replay': {
      current = begin(message.request, replayTurns(message.turns, asked));
      const tested = await current.test.run();
      tell({ type: 'replayed', replayed: { ...tested, ...(await current.test.settle()) } });
      current = undefined;
      return;
    }
    case 'settle':
      if (!current) return;
      tell({ type: 'settled', settled: await current.test.settle() });
      current = undefined;
      return;
    case 'asked': {
      const { question, session, request } = message;
      const decided = current?.test.decide(session, request) ?? Promise.resolve(undefined);
      await decided.then(
        (decision) => tell({ type: 'decided', question, ...present({ decision }) }),
        (error: unknown) => {
          tell({ type: 'decided', question });
          current?.fail(error);
        },
      );
      return;
    }
    case 'abort':
      current?.abort.abort(new DOMException(message.reason, 'AbortError'));
      return;
    case 'answer': {
      const answer = open.get(message.call);
      open.delete(message.call);
      if (message.error === undefined) answer?.resolve(message.value);
      else answer?.reject(new Error(message.error));
      return;
    }
  }
}

/** What holds this process besides the run that it answers. */
const isOfHost = (resource: string): boolean => resource === 'PipeWrap' || resource === 'MessagePort';

/** A code that computes without end, or waits for nothing, sends no such message. */
setInterval(() => {
  if (current && !process.getActiveResourcesInfo().every(isOfHost)) tell({ type: 'waiting' });
}, 1000).unref();

for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(name, (error) => current?.fail(error));
}
const loaded = resolveWhetstone();
process.on('message', (message) => void loaded.then(() => handle(message as ToWorker)));
process.on('disconnect', () => process.exit());
