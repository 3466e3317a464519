// A process that has the command line loaded and runs it for tests as often as it is asked to: one call per line on
// standard input, what came of it per line on standard output.
import { readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { restartLean } from '../../workspace/lean-memory.ts';
import { enterPrivateMountNamespace } from '../../workspace/mount-namespace.ts';
import type { Call } from './command-line.ts';

/** How long a command may keep its process alive after it has returned. */
const END_LIMIT_MS = 30_000;

// Once for all calls: they start the process anew.
enterPrivateMountNamespace();
restartLean();
// Only now, because the process has started anew.
const { main } = await import('../main.ts');

let output: Record<'stdout' | 'stderr', string> | undefined;
for (const stream of ['stdout', 'stderr'] as const) process[stream].write = writer(stream);
// Also where a command ends the process.
process.on('exit', answer);
for await (const line of createInterface({ input: process.stdin })) {
  answer(await run(JSON.parse(line)));
}

function answer(exitCode: number): void {
  if (output) writeSync(1, `${JSON.stringify({ exitCode, signal: null, ...output })}\n`);
  output = undefined;
}

async function run({ args, cwd, env }: Call): Promise<number> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  output = { stdout: '', stderr: '' };
  const before = process.getActiveResourcesInfo();
  const mounted = mounts();
  const exitCode = await main([...args]);
  await wouldEnd(before);
  if (mounts() > mounted) throw new Error(`The command has left a mount: ${args.join(' ')}`);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  process.removeAllListeners('uncaughtException');
  return exitCode;
}

function writer(stream: 'stdout' | 'stderr'): typeof process.stdout.write {
  return (chunk: string | Uint8Array, encoding?: unknown, done?: () => void) => {
    if (output) output[stream] += Buffer.from(chunk as string).toString();
    const callback = typeof encoding === 'function' ? encoding : done;
    callback?.();
    return true;
  };
}

/** How many mounts the process sees. */
function mounts(): number {
  return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length;
}

/** Waits until nothing is open that was not open before the command: where the process of a user would end. */
async function wouldEnd(before: readonly string[]): Promise<void> {
  const deadline = performance.now() + END_LIMIT_MS;
  for (;;) {
    const open = process.getActiveResourcesInfo();
    for (const resource of before) {
      const index = open.indexOf(resource);
      if (index >= 0) open.splice(index, 1);
    }
    if (open.length === 0) return;
    if (performance.now() > deadline) throw new Error(`The command has returned and left open: ${open.join(', ')}`);
    await pause(2, undefined, { ref: false });
  }
}
