import { present } from '@whetstone/events/present';
import type { BackgroundProcess, StartOptions } from '@whetstone/loop';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';
import { OutputFile, PolledProcess, UnreadOutput } from '@whetstone/sandbox/process';
import { connectSandboxProcess } from './sandbox-connection.ts';

/** Starts a command in a sandbox that runs beside the calls of the loop. Its output is kept until it is asked for. */
export async function startSandboxProcess(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  { workingDirectory, outputFile, env, mask }: StartOptions & Pick<RunOptions, 'mask'>,
): Promise<BackgroundProcess> {
  const output = new UnreadOutput({
    file: outputFile === undefined ? undefined : new OutputFile(outputFile),
  });
  try {
    const process = await connectSandboxProcess(sandbox, argv, {
      onStdout: output.listener(),
      onStderr: output.listener(),
      ...present({ env, mask, cwd: workingDirectory }),
    });
    return new PolledProcess(process, output);
  } catch (error) {
    // A process that never started has only its file to close.
    output.close();
    throw error;
  }
}
