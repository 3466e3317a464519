import type { Readable } from 'node:stream';

/**
 * What a launcher reports on file descriptor 3, which the command does not inherit: `started` when the command is about
 * to run, `exited <code>` when it has ended while other processes of its tree may still run.
 */
export class LaunchReport {
  started = false;
  exitCode: number | undefined;
  /** Resolves when the launcher has nothing more to report. */
  readonly closed: Promise<void>;

  /** `onExit` is called when the command has ended, which may be before its tree has. */
  constructor(stream: Readable, onExit: () => void) {
    let text = '';
    stream.setEncoding('latin1');
    stream.on('data', (chunk: string) => {
      text += chunk;
      this.started = text.startsWith('started\n');
      const code = /^exited (\d+)\n/m.exec(text)?.[1];
      if (code === undefined || this.exitCode !== undefined) return;
      this.exitCode = Number(code);
      onExit();
    });
    stream.on('error', () => {});
    this.closed = new Promise((resolve) => {
      stream.once('close', resolve);
    });
  }
}
