import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A program of this folder in a process of its own, which ends with its scope. */
export type Program = {
  pid: number;
  /** Sends a message and resolves with the next one that comes back. Rejects when the program ends instead. */
  ask<Answer>(question: object): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a program, and resolves with the message that it sends when it is ready. */
export async function startProgram<Ready>(
  name: 'upstream' | 'gateway' | 'pipe' | 'client',
  argument: object | string,
  { nodeOptions = [], env = {} }: { nodeOptions?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Program & { ready: Ready }> {
  const child = fork(join(import.meta.dirname, `${name}-program.ts`), [JSON.stringify(argument)], {
    execArgv: [...nodeOptions],
    env: { ...process.env, ...env },
  });
  const ready = await nextMessage<Ready>(child);
  return {
    ready,
    pid: Number(child.pid),
    ask(question) {
      child.send(question);
      return nextMessage(child);
    },
    async [Symbol.asyncDispose]() {
      await kill(child);
    },
  };
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The reason for an end is on stderr, which the programs share with their parent. */
async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const watch = new AbortController();
  const message = once(child, 'message', watch).then(([value]) => value as T);
  const exit = once(child, 'exit', watch).then(([code, signal]) => {
    throw new Error(`${child.spawnfile} ${child.spawnargs[1]} ended with ${code ?? signal}`);
  });
  try {
    return await Promise.race([message, exit]);
  } finally {
    watch.abort();
    await Promise.allSettled([message, exit]);
  }
}
