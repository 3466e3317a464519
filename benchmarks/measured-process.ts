import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { firstChildOf, type ProcessUse, secondsOf } from './process-use.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PROBE = pathToFileURL(join(import.meta.dirname, 'probe.ts')).href;

export type Measured = ProcessUse & {
  /** User and system time of all its descendants, also of those that outlived their parent. In ticks of 10 ms. */
  childrenCpuSeconds: number;
  wallSeconds: number;
};

export type MeasureOptions = {
  cwd: string;
  env?: Record<string, string>;
  /** Gets each line of stderr while the program runs, and a function that finds the program's process id. */
  onLine?: (line: string, findPid: () => number) => void;
};

/** Runs a Node program to its end and returns what it used. Throws with the end of stderr when it fails. */
export function measureNode(args: readonly string[], options: MeasureOptions): Promise<Measured> {
  return measureProgram([process.execPath, '--import', PROBE, ...args], options);
}

/** The same for any program that at its end writes a `ProcessUse` to the file that WHETSTONE_BENCHMARK_PROBE names. */
export async function measureProgram(command: readonly string[], options: MeasureOptions): Promise<Measured> {
  using folder = temporaryFolder();
  const file = join(folder.path, 'use.json');
  const env = { ...options.env, WHETSTONE_BENCHMARK_PROBE: file };
  const { cpuSeconds, wallSeconds } = await measureTree(command, { ...options, env });
  const own = JSON.parse(readFileSync(file, 'utf8')) as ProcessUse;
  return { ...own, childrenCpuSeconds: cpuSeconds - own.cpuSeconds, wallSeconds };
}

/**
 * Waits for the program and for everything that outlives it, such as a resident helper; the last line of stderr then says
 * what all of them used. The shell is the first process of a PID namespace: it inherits every orphan.
 */
const FIRST_PROCESS = `
"$@"
code=$?
while set -- /proc/[0-9]* && [ $# -gt 1 ]; do sleep 0.02; done
read -r stat </proc/self/stat
echo "$code $stat" >&2
`;

/** The time is that of the program and of all its descendants. */
async function measureTree(
  command: readonly string[],
  { cwd, env, onLine }: MeasureOptions,
): Promise<{ cpuSeconds: number; wallSeconds: number }> {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
  const namespace = [...user, '--pid', '--fork', '--kill-child', '--mount-proc'];
  const began = performance.now();
  const child = spawn('unshare', [...namespace, 'sh', '-c', FIRST_PROCESS, 'sh', ...command], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const lastLines: string[] = [];
    createInterface(child.stderr).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      onLine?.(line, () => firstChildOf(firstChildOf(child.pid ?? 0)));
    });
    await once(child, 'close');
    const wallSeconds = (performance.now() - began) / 1000;
    const [, code, stat = ''] = /^(\d+) (\d+ .*)$/.exec(lastLines.at(-1) ?? '') ?? [];
    if (code !== '0') throw new Error(`${command.join(' ')} ended with ${code}:\n${lastLines.join('\n')}`);
    return { cpuSeconds: secondsOf(stat, 16), wallSeconds };
  } finally {
    child.kill('SIGKILL');
  }
}
