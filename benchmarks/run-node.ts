import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { present } from '@whetstone/events/present';

const LIMIT_MS = 600_000;

/** Runs a program in a process of its own and returns the JSON that it prints. Rejects when it does not exit with 0. */
export async function runNode<T>(
  file: string,
  args: readonly (string | number)[],
  options: { cwd?: string; flags?: readonly string[]; compileCache?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<T> {
  const { cwd, flags = [], compileCache, env } = options;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file, ...args.map(String)], {
    ...present({ cwd }),
    env: { ...process.env, ...(compileCache && { NODE_COMPILE_CACHE: compileCache }), ...env },
    timeout: LIMIT_MS,
  });
  return JSON.parse(stdout);
}
