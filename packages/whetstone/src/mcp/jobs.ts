import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WhetstoneError } from '@whetstone/errors';
import {
  endTree,
  holdGroup,
  newMark,
  releaseGroup,
  treeOf,
  unwatch,
  watch,
} from '@whetstone/sandbox/process';

/** A command of Whetstone that runs for a client, in a process of its own. */
export type Job = {
  id: string;
  /** Its arguments, as on a command line. */
  args: readonly string[];
  state: 'running' | 'done' | 'stopped';
  startedAt: number;
  endedAt?: number;
  /** `null` while it runs, and where a signal ended it. */
  exitCode: number | null;
  stdout: string;
  /** The end of what it said on stderr: progress, warnings, an error. */
  stderr: string;
};

/** How much of the output of a job is kept, in characters. What is printed on stdout is JSON, so its beginning counts. */
const STDOUT_KEPT = 16_000_000;
const STDERR_KEPT = 8_000;
const OWNER = 'mcp jobs';

/**
 * Starts commands that end with this process, also when that is killed by a signal that nobody can handle. One job runs at a time,
 * because two runs would disturb each other's times; what only reads may run beside it. `command`: the program and the arguments before those of a job.
 */
export function createJobs(command: readonly [program: string, ...args: string[]], cwd: string) {
  const jobs = new Map<string, Job>();
  const running = new Map<string, { child: ChildProcess; mark: string; ended: Promise<unknown> }>();
  const reading = new Set<string>();
  let count = 0;

  function start(args: readonly string[]): Job {
    const busy = [...running.keys()].find((id) => !reading.has(id));
    if (busy !== undefined) {
      throw new WhetstoneError('mcp-job-running', `Job ${busy} runs: ${jobs.get(busy)?.args.join(' ')}`, {
        hint: 'Wait for it with the tool `job`, or end it with `stop_job`.',
      });
    }
    count += 1;
    return begin(`job-${count}`, args);
  }

  function begin(id: string, args: readonly string[]): Job {
    const [program, ...before] = command;
    const mark = newMark();
    watch(OWNER);
    const child = spawn(program, [...before, ...args], {
      cwd,
      env: { ...process.env, WHETSTONE_JOB: mark, NO_COLOR: '1' },
      // A group of its own, which the watcher ends.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid !== undefined) holdGroup(pid);
    const job: Job = {
      ...{ id, args, state: 'running', startedAt: Date.now(), exitCode: null },
      ...{ stdout: '', stderr: '' },
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (job.stdout.length < STDOUT_KEPT) job.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      job.stderr = (job.stderr + text).slice(-STDERR_KEPT);
    });
    child.on('error', (error) => {
      job.stderr += error.message;
    });
    const ended = once(child, 'close').then(([exitCode]) => {
      if (pid !== undefined) releaseGroup(pid);
      running.delete(job.id);
      if (running.size === 0) unwatch(OWNER);
      if (job.state === 'running') job.state = 'done';
      job.exitCode = exitCode;
      job.endedAt = Date.now();
    });
    running.set(job.id, { child, mark, ended });
    jobs.set(job.id, job);
    return job;
  }

  let reads = 0;

  /** Runs a command that only reads, for at most so many seconds, also beside a job. It is not a job that a client can ask for. */
  async function read(args: readonly string[], seconds: number): Promise<Job> {
    reads += 1;
    const id = `read-${reads}`;
    reading.add(id);
    try {
      begin(id, args);
      const job = await wait(id, seconds);
      return job.state === 'running' ? await stop(id) : job;
    } finally {
      reading.delete(id);
      jobs.delete(id);
    }
  }

  function find(id: string): Job {
    const job = jobs.get(id);
    if (job) return job;
    throw new WhetstoneError('mcp-job-unknown', `There is no job ${JSON.stringify(id)}.`, {
      hint:
        count === 0
          ? 'No job was started.'
          : `Jobs: ${[...jobs.keys()].filter((one) => !reading.has(one)).join(', ')}.`,
    });
  }

  /** The job when it has ended, or after so many seconds. */
  async function wait(id: string, seconds: number): Promise<Job> {
    const job = find(id);
    const timer = new AbortController();
    const limit = delay(seconds * 1000, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([running.get(id)?.ended, limit]);
    timer.abort();
    return job;
  }

  /** Ends a job: it keeps what has finished. */
  async function stop(id: string): Promise<Job> {
    const job = find(id);
    const one = running.get(id);
    if (!one) return job;
    job.state = 'stopped';
    // A run handles the first signal, and writes what has finished.
    one.child.kill('SIGTERM');
    await Promise.race([one.ended, delay(STOP_MS, undefined, { ref: false })]);
    if (running.has(id) && one.child.pid !== undefined) {
      await endTree(treeOf(one.child.pid, `WHETSTONE_JOB=${one.mark}`));
    }
    await one.ended;
    return job;
  }

  return {
    ...{ start, read, wait, stop },
    async [Symbol.asyncDispose]() {
      for (const id of [...running.keys()]) await stop(id);
    },
  };
}

const STOP_MS = 10_000;

export type Jobs = ReturnType<typeof createJobs>;
