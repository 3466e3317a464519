import { once } from 'node:events';
import { present } from '@whetstone/events/present';
import {
  type ConnectedProcess,
  endTree,
  OutputFile,
  PolledProcess,
  UnreadOutput,
} from '@whetstone/sandbox/process';
import type { BackgroundProcess, ConnectOptions, ExitedState } from './execution-environment.ts';
import { type Exit, type LocalCommand, OUTPUT_LIMIT, startLocal } from './local-command.ts';

/** Starts a program whose output goes to the host as it comes. Rejects if it cannot start. */
export async function connectLocalProcess(
  command: LocalCommand,
  { onStdout, onStderr }: Pick<ConnectOptions, 'onStdout' | 'onStderr'>,
): Promise<ConnectedProcess<ExitedState>> {
  const { child, tree, exited, drained } = startLocal(command, 'pipe');
  child.stdout?.on('data', onStdout);
  child.stderr?.on('data', onStderr);
  // A pipe that breaks while its process ends is expected, and a write to it has already failed.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
  if (!tree) await exited;
  let isRunning = true;
  const ended = exited
    .catch((): Exit => ({ exitCode: undefined }))
    .then(async (exit): Promise<ExitedState> => {
      isRunning = false;
      await drained();
      return { kind: 'exited', ...present(exit) };
    });
  return {
    ...present({ pid: child.pid }),
    ended,
    async write(text) {
      const { stdin } = child;
      if (!isRunning || !stdin?.writable) throw new Error('the process has exited');
      if (!stdin.write(text)) await Promise.race([once(stdin, 'drain').catch(() => {}), ended]);
    },
    async kill() {
      // What it has left running ends as well; the number of its leader may be another process's by now.
      await endTree(isRunning && tree ? tree : { mark: command.mark, cgroup: command.cgroup });
      await ended;
    },
  };
}

/** Starts a command with an open standard input that lives until it exits or is killed. Rejects if it cannot start. */
export async function startLocalProcess(
  command: LocalCommand,
  outputFile: string | undefined,
): Promise<BackgroundProcess> {
  const file = outputFile === undefined ? undefined : new OutputFile(outputFile);
  if (file?.error) throw file.error;
  const output = new UnreadOutput({ limit: OUTPUT_LIMIT, file });
  try {
    const listeners = { onStdout: output.listener(), onStderr: output.listener() };
    return new PolledProcess(await connectLocalProcess(command, listeners), output);
  } catch (error) {
    output.close();
    throw error;
  }
}
