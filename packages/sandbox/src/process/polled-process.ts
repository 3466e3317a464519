import { StringDecoder } from 'node:string_decoder';
import { BoundedOutput } from './bounded-output.ts';
import type { OutputFile } from './output-file.ts';

/** A process that runs beside its host, which talks to it over its standard input. `Exited` says how it ended. */
export type ConnectedProcess<Exited> = {
  readonly pid?: number;
  write(text: string): Promise<void>;
  kill(): Promise<void>;
  /** Resolves once it has exited and all its output was delivered. Never rejects. */
  readonly ended: Promise<Exited>;
};

/** What a process has printed since it was last asked: both streams as they came, bounded, and copied to a file. */
export class UnreadOutput {
  readonly #limit: number | undefined;
  readonly #file: OutputFile | undefined;
  #output: BoundedOutput;

  constructor({ limit, file }: { limit?: number; file?: OutputFile | undefined }) {
    this.#limit = limit;
    this.#file = file;
    this.#output = new BoundedOutput(limit);
  }

  /**
   * Takes the chunks of one stream. Only whole characters are kept, because `take` may fall between the bytes of one.
   */
  listener(): (chunk: Uint8Array) => void {
    const decoder = new StringDecoder('utf8');
    return (chunk) => {
      this.#file?.write(chunk);
      this.#output.append(Buffer.from(decoder.write(chunk)));
    };
  }

  take(): { output: string; droppedBytes: number } {
    const taken = { output: this.#output.text(), droppedBytes: this.#output.droppedBytes };
    this.#output = new BoundedOutput(this.#limit);
    return taken;
  }

  /** An error of the file is not reported: the file is a convenience, and must not end the process. */
  close(): void {
    this.#file?.close();
  }
}

/** A connected process whose output is kept until somebody asks for it. */
export class PolledProcess<Exited> {
  readonly pid?: number;
  readonly #process: ConnectedProcess<Exited>;
  readonly #output: UnreadOutput;
  readonly #ended: Promise<void>;
  #state: { kind: 'running' } | Exited = { kind: 'running' };
  #isRunning = true;

  constructor(process: ConnectedProcess<Exited>, output: UnreadOutput) {
    this.#process = process;
    this.#output = output;
    if (process.pid !== undefined) this.pid = process.pid;
    this.#ended = process.ended.then((exited) => {
      output.close();
      this.#state = exited;
      this.#isRunning = false;
    });
  }

  get state(): { kind: 'running' } | Exited {
    return this.#state;
  }

  /** The output since the last poll. Waits until the process has exited, `waitMs` have passed or the signal aborts. */
  async poll({ waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal } = {}) {
    if (this.#isRunning && waitMs > 0 && !signal?.aborted) await this.#wait(waitMs, signal);
    return { ...this.#output.take(), state: this.#state };
  }

  async #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, waitMs);
    const stop = () => over.resolve();
    signal?.addEventListener('abort', stop, { once: true });
    await Promise.race([this.#ended, over.promise]);
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }

  write(text: string): Promise<void> {
    return this.#process.write(text);
  }

  /** Ends its process tree. No error if it has ended. */
  async kill(): Promise<void> {
    if (!this.#isRunning) return;
    await this.#process.kill();
    await this.#ended;
  }
}
