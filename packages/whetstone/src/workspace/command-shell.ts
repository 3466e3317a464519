import { type ChildProcess, spawn } from 'node:child_process';

/** Runs system programs in a folder, one after the other. Rejects with what they said when they fail. */
export type CommandShell = AsyncDisposable & {
  run(command: readonly string[]): Promise<void>;
};

/**
 * One small shell that starts `mount`, `umount` and `rm`: to start them from here costs milliseconds of our own time,
 * because a process of this size is forked each time, and there are six a case. It is in its own session, so that a Ctrl-C
 * does not take it away before the mounts are undone, and ends with this process: its input is closed then.
 */
export function openCommandShell(cwd: string): CommandShell {
  let shell: ChildProcess | undefined;
  let output = '';
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];

  function start(): ChildProcess {
    const child = spawn('sh', [], {
      cwd,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    child.stdout?.setEncoding('utf8').on('data', read);
    // Writing to a shell that has died is answered by its end.
    child.stdin?.on('error', () => {});
    child.on('error', fail);
    child.on('close', () => fail(new Error('the shell for mounts and removals ended')));
    return child;
  }

  function fail(error: Error): void {
    shell = undefined;
    output = '';
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  function read(text: string): void {
    output += text;
    for (let end = output.indexOf('\0'); end !== -1; end = output.indexOf('\0')) {
      const [, said = '', code = ''] = /^(.*)\n(\d+)$/s.exec(output.slice(0, end)) ?? [];
      output = output.slice(end + 1);
      const next = waiting.shift();
      if (code === '0') next?.resolve();
      else next?.reject(new Error(said.trim()));
    }
  }

  return {
    run(command) {
      const line = command.map(plainWord).join(' ');
      return new Promise((resolve, reject) => {
        shell ??= start();
        waiting.push({ resolve, reject });
        shell.stdin?.write(`${line} </dev/null 2>&1; printf '\\n%d\\0' $?\n`);
      });
    },
    async [Symbol.asyncDispose]() {
      const ending = shell;
      if (!ending) return;
      const closed = new Promise((resolve) => ending.once('close', resolve));
      ending.stdin?.end();
      await closed;
    },
  };
}

/** Nothing here needs quoting: names below the scratch folder are made of these, and so are options. */
function plainWord(word: string): string {
  if (!/^[\w=,.:/-]+$/.test(word)) throw new Error(`not a plain word for a command: ${word}`);
  return word;
}
