import { once } from 'node:events';
import { present } from '@whetstone/events/present';
import type { ConnectedProcess, ConnectOptions, ExitedState } from './execution-environment.ts';
import { drain, endGroup, type LocalCommand, release, spawnGroup, waitForExit } from './local-command.ts';
import { endProcessTree } from './process-tree.ts';

/** Starts a program whose output goes to the host as it comes. Rejects where it cannot start. */
export async function connectLocalProcess(
  command: LocalCommand,
  { onStdout, onStderr }: Pick<ConnectOptions, 'onStdout' | 'onStderr'>,
): Promise<ConnectedProcess> {
  const child = spawnGroup(command, 'pipe');
  const exited = waitForExit(child);
  if (child.pid === undefined) await exited;
  child.stdout?.on('data', onStdout);
  child.stderr?.on('data', onStderr);
  // A pipe that breaks while its process ends is no news, and a write to it has said so.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
  let isRunning = true;
  const ended = exited
    .catch(() => ({ exitCode: undefined }))
    .then(
      async ({
        exitCode,
        signal,
      }: {
        exitCode: number | undefined;
        signal?: string;
      }): Promise<ExitedState> => {
        isRunning = false;
        await drain(child);
        release(child);
        return {
          kind: 'exited',
          ...present({ exitCode, signal }),
        };
      },
    );
  return {
    ended,
    async write(text) {
      const { stdin } = child;
      if (!isRunning || !stdin?.writable) throw new Error('the process has exited');
      if (!stdin.write(text)) await Promise.race([once(stdin, 'drain').catch(() => {}), ended]);
    },
    async kill() {
      // What it has left running goes as well, but its number may be another's by now.
      await (isRunning ? endGroup(child, command.mark) : endProcessTree({ mark: command.mark }));
      await ended;
    },
  };
}
