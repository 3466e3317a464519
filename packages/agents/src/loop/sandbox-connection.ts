import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ConnectedProcess, ExitedState } from '@whetstone/loop';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';

/** Starts a command in a sandbox with an open standard input. It ends when it exits, when it is killed, or with its sandbox. */
export async function connectSandboxProcess(
  sandbox: Sandbox,
  [program, ...args]: readonly [string, ...string[]],
  options: Pick<RunOptions, 'env' | 'cwd' | 'mask' | 'onStdout' | 'onStderr'>,
): Promise<ConnectedProcess> {
  const stdin = new PassThrough();
  // A write to a program that has just exited fails here too, after `write` has reported it.
  stdin.on('error', () => {});
  const killing = new AbortController();
  const begun = Promise.withResolvers<void>();
  const running = sandbox.runCommand(program, args, {
    ...options,
    stdin,
    signal: killing.signal,
    onStart: begun.resolve,
  });
  let isRunning = true;
  const ended = running
    .then(
      ({ ended, exitCode }): ExitedState => ({ kind: 'exited', ...(ended === 'exit' && { exitCode }) }),
      (): ExitedState => ({ kind: 'exited' }),
    )
    .finally(() => {
      isRunning = false;
    });
  await Promise.race([begun.promise, running]);
  return {
    ended,
    async write(text) {
      if (!isRunning || !stdin.writable) throw new Error('the process has exited');
      if (!stdin.write(text)) await Promise.race([once(stdin, 'drain').catch(() => {}), ended]);
    },
    async kill() {
      killing.abort();
      await ended;
    },
  };
}
