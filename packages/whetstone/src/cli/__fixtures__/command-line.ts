import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Call = { args: readonly string[]; cwd: string; env: NodeJS.ProcessEnv };

export type Finished = {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

type Host = { pid: number; isAlive(): boolean; run(call: Call): Promise<Finished> };

/**
 * What waits for a process. One is enough, because each worker of Vitest has its own: to start one costs as much as two
 * calls, and a process runs each call faster than the call before.
 */
const waiting: ((host: Host) => void)[] = [];
const HOSTS = 1;
/** Room for new objects from the start: what a call leaves for the collector is young, and it grows its room slowly. */
const HEAP = ['--max-semi-space-size=16', '--min-semi-space-size=16'];
let hosts = 0;
/** Those that run nothing now. They end with this process. */
const idle: Host[] = [];

/**
 * Runs the command line to its end, without a terminal and without input, in a process that has it loaded: to start it is
 * most of what a call costs. Whatever is about the process itself, as a signal is, starts `bin/whetstone.js`.
 */
export async function runCommandLine(call: Call): Promise<Finished> {
  const host = await takeHost();
  try {
    return await host.run(call);
  } finally {
    giveBack(host);
  }
}

/**
 * Starts a command that runs until it gets a signal, and never waits for a process. Other commands have run in the
 * process and will run there, so `SIGKILL` is for a process of one's own.
 */
export function startCommandLine(call: Call): { pid: number; finished: Promise<Finished> } {
  const host = idle.pop() ?? addHost();
  // Those that wait would otherwise wait for its signal.
  hosts -= 1;
  const finished = host.run(call).finally(() => {
    hosts += 1;
    giveBack(host);
  });
  return { pid: host.pid, finished };
}

async function takeHost(): Promise<Host> {
  const host = idle.pop();
  if (host) return host;
  if (hosts >= HOSTS) return await new Promise((resolve) => waiting.push(resolve));
  return addHost();
}

function addHost(): Host {
  hosts += 1;
  return startHost();
}

function giveBack(used: Host): void {
  const next = waiting.shift();
  if (used.isAlive()) return next ? next(used) : void idle.push(used);
  if (next) return next(startHost());
  hosts -= 1;
}

function startHost(): Host {
  const child = spawn(process.execPath, [...HEAP, join(import.meta.dirname, 'command-line-host.ts')], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Socket).unref();
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'close').then(([exitCode, signal]) => {
    throw new Error(`The command line's process has ended: ${signal ?? exitCode}`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async run(call) {
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify(call)}\n`);
      const [line] = await Promise.race([answered, ended]);
      return JSON.parse(line);
    },
  };
}
