import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type Answer, launcherProgram, type Request } from './launcher-program.ts';

/** A program to start, in a session of its own. */
export type ProgramStart = Omit<Request, 'id'>;

export type StartedProgram = {
  pid: number;
  /** The exit code: 128 + n when signal n ended the program. Never rejects. */
  exited: Promise<number>;
};

type Pending = { start: PromiseWithResolvers<StartedProgram>; exit: PromiseWithResolvers<number> };

const KILLED = 128 + constants.signals.SIGKILL;

let launcher: ChildProcess | undefined;
let lastId = 0;
const pending = new Map<number, Pending>();

/**
 * Starts a program from a small resident process. To start one from here would copy this process's page tables: 10 ms
 * for every 300 MB in memory, in which nothing else runs here. The launcher ends when this process does, `kill -9`
 * included, and keeps no program from ending.
 *
 * @throws Error with the `code` of `spawn` (`ENOENT`, `E2BIG`, …) if the program could not be started.
 */
export function launchProgram(program: ProgramStart): Promise<StartedProgram> {
  lastId += 1;
  const id = lastId;
  const entry: Pending = { start: Promise.withResolvers(), exit: Promise.withResolvers() };
  pending.set(id, entry);
  launcher ??= startLauncher();
  launcher.channel?.ref();
  // A failed `send` means that the launcher has ended: its `exit` settles what is pending.
  launcher.send({ id, ...program } satisfies Request, () => {});
  return entry.start.promise;
}

function startLauncher(): ChildProcess {
  const child = spawn(process.execPath, ['-e', `(${launcherProgram})()`], {
    // It holds no folder that somebody wants to remove, and has nothing of this process's environment.
    cwd: '/',
    env: {},
    // A session of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const end = (reason: Error): void => {
    if (launcher !== child) return;
    launcher = undefined;
    for (const { start, exit } of pending.values()) {
      start.reject(reason);
      exit.resolve(KILLED);
    }
    pending.clear();
  };
  child.on('message', settle);
  child.on('error', end);
  child.on('exit', () => end(new Error('the process that starts commands was killed')));
  child.unref();
  return child;
}

function settle(answer: Answer): void {
  const entry = pending.get(answer.id);
  if (!entry) return;
  if ('pid' in answer) {
    entry.start.resolve({ pid: answer.pid, exited: entry.exit.promise });
    return;
  }
  if ('error' in answer) entry.start.reject(Object.assign(new Error(answer.error.message), answer.error));
  else entry.exit.resolve(answer.code ?? 128 + (answer.signal ? constants.signals[answer.signal] : 0));
  pending.delete(answer.id);
  // What runs keeps this process alive; an idle launcher does not.
  if (pending.size === 0) launcher?.channel?.unref();
}
