import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { pipeline, Readable, type Writable } from 'node:stream';
import { type Answer, launcherProgram, type Request } from './launcher-program.ts';
import { closePipes, createNamedPipes } from './named-pipes.ts';

export type Program = {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Default: empty input. */
  stdin?: Readable | undefined;
  /** Whether the program has a pipe as its descriptor 3. Default: no. */
  hasReport?: boolean;
};

export type StartedProgram = {
  pid: number;
  /** The exit code: 128 + n when signal n ended the program. Never rejects. */
  exited: Promise<number>;
  stdout: Readable;
  stderr: Readable;
  /** Descriptor 3. Ended if the program has none. */
  report: Readable;
};

/**
 * Starts a program in a session of its own. Somebody has to read its output.
 *
 * On Linux a small resident process starts it. To start it from here would copy this process's page tables: 10 ms for
 * every 300 MB in memory, in which nothing else runs here. The launcher ends when this process does, `kill -9` included,
 * and an idle one does not keep this process alive. The pipes are named ones. Node's own are sockets, and a script that
 * says `echo failed > /dev/stderr` cannot open a socket: it would fail here and nowhere else.
 *
 * @throws Error with the `code` of `spawn` (`ENOENT`, `E2BIG`, …) if the program could not be started.
 */
export function startProgram(program: Program): Promise<StartedProgram> {
  return process.platform === 'linux' ? launch(program) : startDirectly(program);
}

type Started = Pick<StartedProgram, 'pid' | 'exited'>;
type Launcher = {
  start(request: Omit<Request, 'id'>): Promise<Started>;
  openPipes: ReturnType<typeof createNamedPipes>;
};
type Pending = { start: PromiseWithResolvers<number>; exit: PromiseWithResolvers<number> };

const KILLED = 128 + constants.signals.SIGKILL;

let launcher: Launcher | undefined;
let lastId = 0;

async function launch({ stdin, hasReport = false, ...program }: Program): Promise<StartedProgram> {
  launcher ??= startLauncher();
  const used = launcher;
  const pipes = await used.openPipes([false, false, ...(hasReport ? [false] : []), ...(stdin ? [true] : [])]);
  try {
    const input = stdin && pipes.at(-1);
    const outputs = pipes.filter((pipe) => pipe !== input);
    const { pid, exited } = await used.start({
      ...program,
      ...(input && { input: input.path }),
      outputs: outputs.map(({ path }) => path),
    });
    for (const { release } of pipes) release();
    if (stdin && input) feed(stdin, input.stream, exited);
    const [stdout, stderr, report] = outputs.map(({ stream }) => stream);
    if (!stdout || !stderr) throw new Error('a program was started without pipes');
    return { pid, exited, stdout, stderr, report: report ?? ended() };
  } catch (error) {
    closePipes(pipes);
    throw error;
  }
}

function startLauncher(): Launcher {
  const child = spawn(process.execPath, ['-e', `(${launcherProgram})()`], {
    // It holds no folder that somebody wants to remove, and has nothing of this process's environment.
    cwd: '/',
    env: {},
    // A session of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const pending = new Map<number, Pending>();

  async function start(request: Omit<Request, 'id'>): Promise<Started> {
    lastId += 1;
    const id = lastId;
    const entry: Pending = { start: Promise.withResolvers(), exit: Promise.withResolvers() };
    pending.set(id, entry);
    // A running program keeps this process alive, an idle launcher does not.
    child.channel?.ref();
    child.send({ id, ...request } satisfies Request, (error) => {
      if (error) settle({ id, error: { code: undefined, message: error.message } });
    });
    return { pid: await entry.start.promise, exited: entry.exit.promise };
  }

  function settle(answer: Answer): void {
    const entry = pending.get(answer.id);
    if (entry === undefined) return;
    if ('pid' in answer) {
      entry.start.resolve(answer.pid);
      return;
    }
    if ('error' in answer) entry.start.reject(Object.assign(new Error(answer.error.message), answer.error));
    else entry.exit.resolve(exitCodeOf(answer.code, answer.signal));
    pending.delete(answer.id);
    if (pending.size === 0) child.channel?.unref();
  }

  async function makeFifos(paths: readonly string[]): Promise<void> {
    const { exited } = await start({
      file: 'mkfifo',
      args: ['-m', '600', ...paths],
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      outputs: [],
    });
    if ((await exited) !== 0) throw new Error('mkfifo failed');
  }

  const started: Launcher = { start, openPipes: createNamedPipes(makeFifos) };
  const end = (reason: Error): void => {
    if (launcher === started) launcher = undefined;
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
  return started;
}

async function startDirectly({ file, args, cwd, env, stdin, hasReport }: Program): Promise<StartedProgram> {
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', hasReport ? 'pipe' : 'ignore'],
    detached: true,
  });
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(exitCodeOf(code, signal)));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject);
  });
  const [input, stdout, stderr, report] = child.stdio;
  if (child.pid === undefined || !stdout || !stderr) throw new Error('the process has no pid or no output');
  if (stdin && input) feed(stdin, input, exited);
  return {
    pid: child.pid,
    exited,
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    report: (report as Readable | null) ?? ended(),
  };
}

/** A program may end before it has read everything, and its source may never end. */
function feed(source: Readable, target: Writable, exited: Promise<number>): void {
  pipeline(source, target, () => {});
  void exited.then(() => target.destroy());
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}

function ended(): Readable {
  return Readable.from([]);
}
