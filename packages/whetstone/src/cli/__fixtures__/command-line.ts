import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Call = { args: readonly string[]; cwd: string; env: NodeJS.ProcessEnv };

export type Finished = {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

type Host = { isAlive(): boolean; run(call: Call): Promise<Finished> };

/** Those that run nothing now. They end with this process. */
const idle: Host[] = [];

/**
 * Runs the command line to its end, without a terminal and without input, in a process that has it loaded: to start it is
 * most of what a call costs. Whatever is about the process itself, as a signal is, starts `bin/whetstone.js`.
 */
export async function runCommandLine(call: Call): Promise<Finished> {
  const host = idle.pop() ?? startHost();
  const finished = await host.run(call);
  if (host.isAlive()) idle.push(host);
  return finished;
}

function startHost(): Host {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'command-line-host.ts')], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), 'whetstone-compile-cache') },
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
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async run(call) {
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify(call)}\n`);
      const [line] = await Promise.race([answered, ended]);
      return JSON.parse(line);
    },
  };
}
