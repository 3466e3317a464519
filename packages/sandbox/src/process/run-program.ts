import { BoundedOutput } from './bounded-output.ts';
import { drainOutput } from './drain-output.ts';
import { startProgram } from './launcher.ts';

/**
 * Runs a program of the system to its end, without input, by the process that starts programs. `variables`: its environment;
 * default: that of this process.
 * @throws Error with the `code` of `spawn`, or, with `stderr`, for an exit code that is not 0
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const started = await startProgram({ file, args: [...args], cwd: process.cwd(), env });
  const output = new BoundedOutput();
  started.stdout.resume();
  started.stderr.on('data', (chunk: Buffer) => output.append(chunk));
  const exitCode = await started.exited;
  await Promise.all([drainOutput(started.stdout), drainOutput(started.stderr)]);
  if (exitCode === 0) return;
  const stderr = output.text();
  throw Object.assign(new Error(`Command failed: ${[file, ...args].join(' ')}\n${stderr}`), {
    exitCode,
    stderr,
  });
}
