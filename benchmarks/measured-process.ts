import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { ProcessUse } from './process-use.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PROBE = pathToFileURL(join(import.meta.dirname, 'probe.ts')).href;

export type Measured = ProcessUse & { wallSeconds: number };

/**
 * Runs a Node program to its end and returns what it used. `onLine` gets each line of stderr while the program runs.
 * Throws with the last lines of stderr when the program does not exit with 0.
 */
export async function measureNode(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string>; onLine?: (line: string, pid: number) => void },
): Promise<Measured> {
  using folder = temporaryFolder();
  const file = join(folder.path, 'use.json');
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', PROBE, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env, WHETSTONE_BENCHMARK_PROBE: file },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const lastLines: string[] = [];
    createInterface(child.stderr).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      if (child.pid !== undefined) options.onLine?.(line, child.pid);
    });
    const [code, signal] = await once(child, 'close');
    const wallSeconds = (performance.now() - began) / 1000;
    if (code !== 0) {
      throw new Error(`${args.join(' ')} ended with ${code ?? signal}:\n${lastLines.join('\n')}`);
    }
    return { ...(JSON.parse(readFileSync(file, 'utf8')) as ProcessUse), wallSeconds };
  } finally {
    child.kill('SIGKILL');
  }
}
