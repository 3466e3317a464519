import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { WhetstoneError } from '@whetstone/errors';

const PROGRAM = fileURLToPath(new URL('../../../bin/whetstone.js', import.meta.url));

/** `ENDS_WITH_STDIN` of the command line. The program ends when whoever holds its stdin does, however that ended. */
const OWN = { WHETSTONE_ENDS_WITH_STDIN: '1', NO_COLOR: '1' };

/**
 * Starts this command line in a process group of its own, so that Ctrl-C at the terminal of the page only ends the page,
 * which then ends it.
 */
export const startOwnProgram = (args: readonly string[], cwd: string): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...OWN },
  });

/** More than the plan of ten thousand cases. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * What a command prints as JSON. `input`: its stdin.
 * @throws WhetstoneError `view-command-failed` with what it says, where it prints something else
 */
export async function askOwnProgram(
  args: readonly string[],
  { cwd, input = '', signal }: { cwd: string; input?: string; signal: AbortSignal },
): Promise<unknown> {
  const child = startOwnProgram(args, cwd);
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  child.stdin?.on('error', () => undefined).end(input);
  try {
    const [stdout, stderr] = await Promise.all([
      bounded(child),
      text(child.stderr ?? process.stdin),
      child.exitCode === null ? once(child, 'exit') : undefined,
    ]);
    try {
      return JSON.parse(stdout);
    } catch {
      throw new WhetstoneError('view-command-failed', stderr.trim().slice(-4000) || 'It printed nothing.');
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function bounded(child: ChildProcess): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of child.stdout ?? []) {
    parts.push(part);
    size += part.length;
    if (size > MOST_BYTES) child.kill('SIGKILL');
  }
  return Buffer.concat(parts).toString();
}
