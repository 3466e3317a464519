import { spawn } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import { removeTrees } from '../files/remove-tree.ts';
import type { ControlGroups, Doors, Launcher, LaunchRequest, Mounts } from './launcher-interface.ts';
import { closePipes, createNamedPipes } from './named-pipes.ts';
import { exitCodeOf, startNodeLauncher } from './node-launcher.ts';
import { perl, startPerlLauncher } from './perl-launcher.ts';

/** `env` is the whole environment. `namespace`: where `makesNamespaces`; what happens there is reported. */
export type Program = Omit<LaunchRequest, 'input' | 'outputs'> & {
  /** Default: empty input. */
  stdin?: Readable | undefined;
  /** Whether the program has a pipe as its descriptor 3. Default: no. */
  hasReport?: boolean;
};

/** Whether programs can be started in namespaces. */
export const makesNamespaces: boolean = perl !== undefined;

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

/** `undefined` where programs are started by a process that cannot mount. */
export function launcherMounts(): Mounts | undefined {
  launcher ??= process.platform === 'linux' ? startLauncher() : undefined;
  return launcher?.mounts;
}

/** `undefined` where programs are started by a process that makes no namespaces. */
export function launcherControlGroups(): ControlGroups | undefined {
  launcher ??= process.platform === 'linux' ? startLauncher() : undefined;
  return launcher?.controlGroups;
}

/**
 * Remembers small folders as they are, by the process that starts programs. Resolves with a function that resolves with `true`
 * if they still are so: with `false` it may not know. `undefined` where it cannot remember them.
 */
export async function rememberFolders(
  folders: readonly string[],
): Promise<(() => Promise<boolean>) | undefined> {
  launcher ??= process.platform === 'linux' ? startLauncher() : undefined;
  return await launcher?.remember?.(folders).catch(() => undefined);
}

/** Removes folders with anything in them, by the process that starts programs where it can. Follows no link. */
export async function removeFolders(paths: readonly string[]): Promise<void> {
  const byLauncher = launcherMounts()?.remove(paths);
  // What is locked or too deep is left for other means.
  await (byLauncher ? byLauncher.catch(() => removeTrees(paths)) : removeTrees(paths));
}

/** `undefined` where programs are started by a process that makes no network namespaces. */
export function launcherDoors(): Doors | undefined {
  launcher ??= process.platform === 'linux' ? startLauncher() : undefined;
  return launcher?.doors;
}

type Used = Launcher & { openPipes: ReturnType<typeof createNamedPipes> };

let launcher: Used | undefined;

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

function startLauncher(): Used {
  const onEnd = (): void => {
    if (launcher === started) launcher = undefined;
  };
  const made = perl ? startPerlLauncher(perl, onEnd) : startNodeLauncher(onEnd);
  const started: Used = { ...made, openPipes: createNamedPipes(made.makeFifos) };
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

/**
 * A program may end before it has read everything, and its source may never end, or break off. By hand, because `pipeline` makes
 * an abort signal and an exception for each.
 */
function feed(source: Readable, target: Writable, exited: Promise<number>): void {
  source.once('error', () => target.destroy());
  source.once('close', () => source.readableEnded || target.destroy());
  target.on('error', () => {});
  target.once('close', () => source.destroy());
  source.pipe(target);
  void exited.then(() => target.destroy());
}

function ended(): Readable {
  return Readable.from([]);
}
