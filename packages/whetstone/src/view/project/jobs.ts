import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { plainText } from '../../report/sanitize.ts';
import type { Job } from '../api.ts';
import { startOwnProgram } from './own-program.ts';

const LINES_KEPT = 200;
const LINE_CHARACTERS = 500;
const ENDED_KEPT = 20;
/** How long a run that was asked to stop may take to end what it started. */
const GRACE_MS = 15_000;

/** The runs that the page has started. They end with it. */
export interface Jobs {
  list(): Job[];
  start(args: readonly string[]): Job;
  /** Asks a run to stop: finished cases are kept. `undefined`: there is no such job. */
  stop(id: string): Job | undefined;
  /** Stops all of them, and resolves when they have ended. */
  close(): Promise<void>;
}

type Started = { job: Job; child: ChildProcess; ended: Promise<unknown> };

export function openJobs(cwd: string): Jobs {
  const started = new Map<string, Started>();
  let count = 0;

  const stop = ({ job, child }: Started) => {
    if (job.state === 'ended' || job.is_stopping) return;
    job.is_stopping = true;
    child.kill('SIGINT');
  };

  return {
    list: () => [...started.values()].map(({ job }) => ({ ...job, output: [...job.output] })).reverse(),

    start(args) {
      const child = startOwnProgram(['run', ...args], cwd);
      const job: Job = {
        id: String(++count),
        arguments: [...args],
        started_at: new Date().toISOString(),
        ...{ state: 'running', is_stopping: false, exit_code: null, run: null, output: [] },
      };
      const ended = follow(job, child);
      started.set(job.id, { job, child, ended });
      const old = [...started.values()].filter(({ job }) => job.state === 'ended').slice(0, -ENDED_KEPT);
      for (const { job } of old) started.delete(job.id);
      return { ...job };
    },

    stop(id) {
      const found = started.get(id);
      if (found === undefined) return undefined;
      stop(found);
      return { ...found.job };
    },

    async close() {
      await Promise.all(
        [...started.values()].map(async (one) => {
          stop(one);
          await Promise.race([one.ended, wait(GRACE_MS, undefined, { ref: false })]);
          if (one.job.state === 'running') one.child.kill('SIGTERM'); // the second signal ends it at once
          await one.ended;
        }),
      );
    },
  };
}

async function follow(job: Job, child: ChildProcess): Promise<void> {
  child.stdin?.on('error', () => undefined);
  const read = async (stream: NodeJS.ReadableStream | null) => {
    if (stream === null) return;
    for await (const line of createInterface({ input: stream })) keep(job, line);
  };
  const failed = once(child, 'exit').catch((error: unknown) => {
    keep(job, String(error));
    return [null];
  });
  await Promise.all([read(child.stdout), read(child.stderr)]).catch(() => undefined);
  const [exitCode] = await failed;
  Object.assign(job, { state: 'ended', exit_code: exitCode });
}

function keep(job: Job, line: string): void {
  // The line with which a run says where its files are.
  const directory = /^\d.*→ (?<directory>.+)$/.exec(line)?.groups?.directory;
  if (directory !== undefined) job.run ??= basename(directory);
  job.output.push(plainText(line).slice(0, LINE_CHARACTERS));
  if (job.output.length > LINES_KEPT) job.output.shift();
}
