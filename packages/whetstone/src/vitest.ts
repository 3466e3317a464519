/** The public surface of `whetstone/vitest`: evals as tests of Vitest, which is a peer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, type TestContext, test } from 'vitest';
import type { EvalArm, FinishedCase, FromHost, ToHost } from './cli/exp-host.ts';
import { privateMountCommand } from './workspace/mount-namespace.ts';

const HOST = fileURLToPath(new URL(`./cli/exp-host${import.meta.url.slice(-3)}`, import.meta.url));

/** What to run, as `whetstone exp` has it. */
export type EvalTestOptions = {
  /** Ids of experiments and of evals, or folders of them. Default: all experiments of the project. */
  names?: readonly string[];
  /** The folder of the project, or one below. Default: the current one. */
  cwd?: string;
  /** An agent, a model, attempts and a sandbox in place of the experiment's. */
  agent?: string;
  model?: string;
  runs?: number;
  sandbox?: string;
  /** Only evals with one of these tags. Default: all. */
  tag?: readonly string[];
  /** Most US dollars of all attempts; needs a gateway. */
  budget?: number;
  /** Limit of one attempt, seconds. Default: that of the eval. Vitest's own limits do not apply. */
  timeout?: number;
  /** Cases at the same time. Default: 1. */
  jobs?: number;
  /** Runs cases again although their results are stored. Default: stored results are reused. */
  rerun?: 'failed' | 'all';
};

/**
 * Makes a test of each eval and variant, in a `describe` per experiment. A test passes when all attempts of its eval
 * have passed, or one of them where the experiment has `earlyExit`. The evals run in a process of their own, and only those whose tests were selected, so that a judge may
 * take as long as the limit of its attempt says. Each `describe` is a run like those of `whetstone exp`.
 *
 * ```ts
 * // evals.test.ts
 * import { evalTests } from 'whetstone/vitest';
 *
 * await evalTests({ names: ['base'] });
 * ```
 *
 * @throws Error with what is wrong in the files of the project
 */
export async function evalTests(options: EvalTestOptions = {}): Promise<void> {
  const { names = [], cwd = process.cwd(), jobs = 1, rerun, tag = [], ...rest } = options;
  const host = openHost(cwd);
  afterAll(() => host.close(), 0);
  const { root, experiments, warnings } = await host.ask(
    { type: 'plan', names, options: { ...rest, tag: [...tag] } },
    'planned',
  );
  if (warnings !== '') console.warn(warnings);
  for (const { id, arms, attempts, earlyExit } of experiments) {
    describe(id, () => {
      let run: RunningArms | undefined;
      const titles = new Map(arms.map((arm) => [titleOf(arm, arms), arm]));
      for (const [title, arm] of titles) {
        // No limit of Vitest: the attempt has its own.
        test(title, { timeout: 0 }, async (context) => {
          run ??= runArms(host, { experiment: id, arms: selected(context, titles), jobs, rerun });
          await report(await run.finished(arm, attempts, earlyExit), { context, root });
        });
      }
    });
  }
}

const titleOf = ({ task, variant }: EvalArm, all: readonly EvalArm[]): string =>
  all.some((other) => other.variant !== variant) ? `${task} [${variant}]` : task;

/** What the tests beside this one that Vitest will run stand for. */
function selected({ task }: TestContext, titles: ReadonlyMap<string, EvalArm>): EvalArm[] {
  const tasks = task.suite?.tasks ?? [task];
  return tasks.flatMap((one) =>
    one.mode === 'skip' || one.mode === 'todo' ? [] : (titles.get(one.name) ?? []),
  );
}

/** Throws what did not pass, at its place in the eval. */
async function report(
  results: readonly FinishedCase[],
  { context, root }: { context: TestContext; root: string },
): Promise<void> {
  const [reused] = results.filter(({ reused_from }) => reused_from);
  const note = reused?.reused_from && `reused from run ${reused.reused_from.run_id}`;
  if (note) await context.annotate(note);
  const skipped = results.find(({ outcome }) => outcome === 'skipped');
  const wrong = results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped');
  if (skipped && wrong.length === 0) context.skip(skipped.evidence ?? 'skipped by the eval');
  const [first] = wrong;
  if (!first) return;
  const { evidence, failure_class, lines, assertions = [] } = first;
  const count =
    results.length === 1 ? '' : `${wrong.length} of ${results.length} attempts did not pass; the first: `;
  const why = evidence ?? 'no evidence was recorded';
  const message = [
    `${count}${failure_class ?? 'unclassified'}: ${why}`,
    ...lines,
    ...(note ? [note] : []),
  ].join('\n');
  const error = new Error(message);
  error.name = 'EvalError';
  const at = assertions.find(({ status, at }) => status !== 'passed' && at)?.at;
  error.stack = [
    `EvalError: ${message}`,
    ...(at ? [`    at ${join(root, at.file)}:${at.line}:${at.column}`] : []),
  ].join('\n');
  throw error;
}

type RunningArms = {
  /** The results of all attempts of an eval, as soon as they are there; with early exit, of one that passed. */
  finished(arm: EvalArm, attempts: number, earlyExit: boolean): Promise<FinishedCase[]>;
};

function runArms(host: Host, what: Omit<Extract<ToHost, { type: 'run' }>, 'type'>): RunningArms {
  const results = new Map<string, FinishedCase[]>();
  const key = ({ task, variant }: EvalArm): string => JSON.stringify([task, variant]);
  let changed = Promise.withResolvers<void>();
  let isOver = false;
  const ran = host.ask({ type: 'run', ...what }, 'ran', (finished) => {
    results.set(key(finished), [...(results.get(key(finished)) ?? []), finished]);
    changed.resolve();
    changed = Promise.withResolvers();
  });
  const ended = ran.finally(() => {
    isOver = true;
  });
  ended.catch(() => undefined);
  return {
    async finished(arm, attempts, earlyExit) {
      for (;;) {
        const found = results.get(key(arm)) ?? [];
        const passed = found.find(({ outcome }) => outcome === 'passed');
        if (earlyExit && passed) return [passed];
        if (found.length >= attempts) return found;
        if (isOver) {
          await ended;
          throw new Error(`${arm.task} was interrupted: ${found.length} of ${attempts} attempts have ended.`);
        }
        await Promise.race([changed.promise, ended]);
      }
    },
  };
}

type Answer<Type extends FromHost['type']> = Extract<FromHost, { type: Type }>;

type Host = {
  ask<Type extends 'planned' | 'ran'>(
    message: ToHost,
    type: Type,
    onFinished?: (finished: FinishedCase) => void,
  ): Promise<Answer<Type>>;
  /** Stops what still runs. */
  close(): Promise<void>;
};

/** The process that runs the evals. It ends with this one. */
function openHost(cwd: string): Host {
  // As `whetstone exp` starts itself anew, so that workspaces and isolation are those of its runs.
  const { file, args, env } = privateMountCommand([HOST]) ?? {
    file: process.execPath,
    args: [HOST],
    env: {},
  };
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.unref();
  const exited = once(child, 'exit');
  let last: Promise<unknown> = Promise.resolve();
  return {
    // One after the other, also where Vitest runs experiments at the same time.
    ask(message, type, onFinished) {
      const answer = last.then(() => answerOf(child, message, type, onFinished));
      last = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      if (child.connected) child.disconnect();
      child.ref();
      await exited;
    },
  };
}

/** An error about the user's files: a place in ours would only mislead. */
function userError(message: string): Error {
  const error = new Error(message);
  error.stack = `Error: ${message}`;
  return error;
}

function answerOf<Type extends FromHost['type']>(
  child: ChildProcess,
  message: ToHost,
  type: Type,
  onFinished: ((finished: FinishedCase) => void) | undefined,
): Promise<Answer<Type>> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Type>>();
  const received = (answer: FromHost): void => {
    if (answer.type === 'finished') onFinished?.(answer.finished);
    else if (answer.type === 'failed') reject(userError(answer.message));
    else if (answer.type === type) resolve(answer as Answer<Type>);
  };
  const ended = (code: number | null, signal: NodeJS.Signals | null): void =>
    reject(new Error(`The process of the evals has ended (${signal ?? `exit code ${code}`}).`));
  child.on('message', received).once('exit', ended);
  child.ref();
  child.channel?.ref();
  if (child.connected) child.send(message);
  else ended(child.exitCode, child.signalCode);
  return promise.finally(() => {
    child.off('message', received).off('exit', ended);
    child.unref();
    child.channel?.unref();
  });
}
