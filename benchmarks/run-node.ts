import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { present } from '@whetstone/events/present';

const LIMIT_MINUTES = 10;

/** Runs a program in a process of its own and returns the JSON that it prints. Rejects when it does not exit with 0 in time. */
export async function runNode<T>(
  file: string,
  args: readonly (string | number)[],
  options: {
    cwd?: string;
    flags?: readonly string[];
    compileCache?: string;
    env?: NodeJS.ProcessEnv;
    limitMinutes?: number;
    /** Default: the Node of this process. */
    node?: string;
  } = {},
): Promise<T> {
  const { cwd, flags = [], compileCache, env, limitMinutes = LIMIT_MINUTES } = options;
  const { node = process.execPath } = options;
  const { stdout } = await promisify(execFile)(node, [...flags, file, ...args.map(String)], {
    ...present({ cwd }),
    env: { ...process.env, ...(compileCache && { NODE_COMPILE_CACHE: compileCache }), ...env },
    timeout: limitMinutes * 60_000,
  });
  return JSON.parse(stdout);
}
