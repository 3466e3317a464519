import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import type { Launcher, LaunchRequest } from './launcher-interface.ts';
import { type Answer, launcherProgram, type Request } from './launcher-program.ts';
import { pendingPrograms } from './pending-programs.ts';

/** A launcher where there is no Perl. It makes no namespaces. */
export function startNodeLauncher(onEnd: () => void): Launcher {
  const child = spawn(process.execPath, ['-e', `(${launcherProgram})()`], {
    // It holds no folder that somebody wants to remove, and has nothing of this process's environment.
    cwd: '/',
    env: {},
    // A session of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const programs = pendingPrograms(() => child.channel?.unref());

  const start = (request: LaunchRequest) =>
    programs.begin((id) => {
      // A running program keeps this process alive, an idle launcher does not.
      child.channel?.ref();
      child.send({ id, ...request } satisfies Request, (error) => {
        if (error) programs.settle(id, { error: { code: undefined, message: error.message } });
      });
    }).started;

  const end = (reason: Error): void => {
    onEnd();
    programs.fail(reason, 128 + constants.signals.SIGKILL);
  };
  child.on('message', (answer: Answer) => {
    programs.settle(
      answer.id,
      'code' in answer ? { exitCode: exitCodeOf(answer.code, answer.signal) } : answer,
    );
  });
  child.on('error', end);
  child.on('exit', () => end(new Error('the process that starts commands was killed')));
  child.unref();
  return {
    start,
    async makeFifos(folder, paths) {
      mkdirSync(folder, { mode: 0o700 });
      const { exited } = await start({
        file: 'mkfifo',
        args: ['-m', '600', ...paths],
        cwd: '/',
        env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
        outputs: [],
      });
      if ((await exited) !== 0) throw new Error('mkfifo failed');
    },
  };
}

export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}
