import type { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import { CapturedOutput } from './captured-output.ts';
import type { Mask, MaskStream } from './mask.ts';
import { OutputFile } from './output-file.ts';

/** How long a silent stream may stay open when the tree is gone: only a process that left the tree can hold it. */
const LINGER_MS = 250;
/** How many times as long one may that is not silent. */
const LINGER_ROUNDS = 8;

export type OutputStreamOptions = {
  onChunk: ((chunk: Buffer) => void) | undefined;
  file: string | undefined;
  fileLimitBytes: number;
  mask: Mask | undefined;
};

/** One output stream of a command on its way to memory, a file and a listener. The file sets the pace. */
export class OutputStream {
  readonly #source: Readable;
  readonly #options: OutputStreamOptions;
  readonly #captured = new CapturedOutput();
  readonly #file: OutputFile | undefined;
  readonly #masking: MaskStream | undefined;
  readonly #closed: Promise<true>;
  #bytes = 0;

  constructor(source: Readable, options: OutputStreamOptions) {
    this.#source = source;
    this.#options = options;
    this.#file =
      options.file === undefined ? undefined : new OutputFile(options.file, options.fileLimitBytes);
    this.#masking = options.mask?.stream();
    this.#closed = new Promise((resolve) => {
      source.once('close', () => resolve(true));
    });
    source.on('data', (chunk: Buffer) => this.#read(chunk));
    source.on('error', () => {});
  }

  /** Bytes as printed, before masking. */
  get bytes(): number {
    return this.#bytes;
  }

  text(): string {
    return this.#captured.text();
  }

  /**
   * After the tree has ended: reads what is left, and settles when all of it is where it belongs.
   *
   * @throws WhetstoneError `sandbox-output-unwritable` when the file could not be written whole.
   */
  async finish(): Promise<void> {
    for (let round = 1, seen = this.#bytes; !(await this.#closesWithin(LINGER_MS)); round++) {
      const isSilent = this.#bytes === seen;
      if ((isSilent || round >= LINGER_ROUNDS) && !this.#source.isPaused()) this.#source.destroy();
      seen = this.#bytes;
    }
    if (this.#masking) this.#deliver(this.#masking.end());
    await this.#file?.close().catch((cause: Error) => {
      throw new WhetstoneError(
        'sandbox-output-unwritable',
        `The output of a command cannot be written: ${cause.message}.`,
        { cause, where: this.#options.file },
      );
    });
  }

  async #closesWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const later = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, ms, false);
    });
    try {
      return await Promise.race([this.#closed, later]);
    } finally {
      clearTimeout(timer);
    }
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const pace = this.#deliver(this.#masking ? this.#masking.push(chunk) : chunk);
    if (pace === 'go-on') return;
    this.#source.pause();
    this.#file?.onDrain(() => this.#source.resume());
  }

  #deliver(bytes: Buffer): 'go-on' | 'wait' {
    if (bytes.length === 0) return 'go-on';
    this.#captured.append(bytes);
    this.#options.onChunk?.(bytes);
    return this.#file?.write(bytes) ?? 'go-on';
  }
}
