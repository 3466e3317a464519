/** A program to start. The pipes are paths. */
export type Request = {
  id: number;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** For standard input. Default: empty input. */
  input?: string;
  /** For the descriptors from 1 on. Default of the first two: nowhere. */
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
  const { closeSync, openSync } = process.getBuiltinModule('node:fs');
  const answer = (message: Answer) => process.send?.(message);

  function start({ id, file, args, cwd, env, input, outputs }: Request): void {
    const opened: number[] = [];
    const open = (path: string, flags: string): number => {
      try {
        const descriptor = openSync(path, flags);
        opened.push(descriptor);
        return descriptor;
      } catch (error) {
        // Without its code: a pipe that is missing is not a program that is missing.
        throw new Error(`a pipe could not be opened: ${(error as Error).message}`);
      }
    };
    const fail = ({ code, message }: NodeJS.ErrnoException) => answer({ id, error: { code, message } });
    try {
      const stdin = input === undefined ? ('ignore' as const) : open(input, 'r');
      const [stdout = 'ignore' as const, stderr = 'ignore' as const, ...others] = outputs.map((path) =>
        open(path, 'w'),
      );
      const stdio = [stdin, stdout, stderr, ...others];
      const child = spawn(file, args, { cwd, env, stdio, detached: true });
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

  process.on('message', start);
  process.on('disconnect', () => process.exit());
}
