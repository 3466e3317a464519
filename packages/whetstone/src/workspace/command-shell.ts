import { type ChildProcess, spawn } from 'node:child_process';

/** Runs system programs in a folder, one after the other. Rejects with the output of a program that fails. */
export type CommandShell = AsyncDisposable & {
  run(command: readonly string[]): Promise<void>;
};

/**
 * One small shell that starts `mount`, `umount` and `rm`, because forking this large process takes milliseconds each
 * time. It has its own session, so that Ctrl-C does not end it before the mounts are undone.
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
    // When the shell has died, its end rejects the command; the error of writing to it adds nothing.
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

/** Checks that a word needs no quoting. Names below the scratch folder and mount options have only these characters. */
function plainWord(word: string): string {
  if (!/^[\w=,.:/-]+$/.test(word)) throw new Error(`not a plain word for a command: ${word}`);
  return word;
}
