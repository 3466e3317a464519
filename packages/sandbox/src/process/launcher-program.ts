/** What the launcher is told: a folder to remove at the end, or a program to start. */
export type Message = { folder: string } | Request;

/** A program to start. The pipes are named pipes. */
export type Request = {
  id: number;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** For standard input. Default: empty input. */
  input?: string;
  /** For the descriptors from 1 on. */
  outputs: readonly string[];
};

/** What the launcher answers: first the process id or an error, then how the program ended. */
export type Answer = { id: number } & (
  | { pid: number }
  | { error: { code: string | undefined; message: string } }
  | { code: number | null; signal: NodeJS.Signals | null }
);

/**
 * The program of the launcher. It is passed as text (`node -e`), so it uses nothing from outside of itself. It ends when
 * the process that started it has ended.
 */
export function launcherProgram(): void {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { closeSync, openSync, rmSync } = process.getBuiltinModule('node:fs');
  const folders: string[] = [];
  const answer = (message: Answer) => process.send?.(message);

  function start({ id, file, args, cwd, env, input, outputs }: Request): void {
    const opened: number[] = [];
    const open = (path: string, flags: string): number => {
      const descriptor = openSync(path, flags);
      opened.push(descriptor);
      return descriptor;
    };
    const fail = ({ code, message }: NodeJS.ErrnoException) => answer({ id, error: { code, message } });
    try {
      const stdin = input === undefined ? 'ignore' : open(input, 'r');
      const stdio = [stdin, ...outputs.map((path) => open(path, 'w'))];
      const child = spawn(file, args, { cwd, env, stdio: stdio as number[], detached: true });
      child.once('error', fail);
      if (child.pid === undefined) return;
      answer({ id, pid: child.pid });
      child.once('exit', (code, signal) => answer({ id, code, signal }));
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
    } finally {
      for (const descriptor of opened) closeSync(descriptor);
    }
  }

  process.on('message', (message: Message) => {
    if ('folder' in message) folders.push(message.folder);
    else start(message);
  });
  process.on('disconnect', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
}
