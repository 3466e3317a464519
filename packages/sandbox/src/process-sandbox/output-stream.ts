import type { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import type { Mask, MaskStream } from '../mask.ts';
import { BoundedOutput } from '../process/bounded-output.ts';
import { drainOutput } from '../process/drain-output.ts';
import { OutputFile } from '../process/output-file.ts';

export type OutputStreamOptions = {
  onChunk: ((chunk: Buffer) => void) | undefined;
  file: string | undefined;
  fileLimitBytes: number | undefined;
  mask: Mask | undefined;
};

/** One output stream of a command on its way to memory, a file and a listener. */
export class OutputStream {
  readonly #source: Readable;
  readonly #options: OutputStreamOptions;
  readonly #kept = new BoundedOutput();
  readonly #file: OutputFile | undefined;
  readonly #masking: MaskStream | undefined;
  #bytes = 0;

  constructor(source: Readable, options: OutputStreamOptions) {
    this.#source = source;
    this.#options = options;
    const { file, fileLimitBytes: limit, mask } = options;
    this.#file =
      file === undefined
        ? undefined
        : new OutputFile(file, { append: true, ...(limit !== undefined && { limit }) });
    this.#masking = mask?.stream();
    source.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#deliver(this.#masking ? this.#masking.push(chunk) : chunk);
    });
    source.on('error', () => {});
  }

  /** Bytes as printed, before masking. */
  get bytes(): number {
    return this.#bytes;
  }

  text(): string {
    return this.#kept.text();
  }

  /**
   * Called after the tree has ended: reads what is left, and resolves when all output is in memory and in the file.
   * @throws WhetstoneError `sandbox-output-unwritable` if the file could not be written.
   */
  async finish(): Promise<void> {
    await drainOutput(this.#source);
    if (this.#masking) this.#deliver(this.#masking.end());
    this.#file?.close();
    const cause = this.#file?.error;
    if (!cause) return;
    throw new WhetstoneError(
      'sandbox-output-unwritable',
      `The output of a command cannot be written: ${cause.message}.`,
      { cause, where: this.#options.file },
    );
  }

  #deliver(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#kept.append(bytes);
    this.#options.onChunk?.(bytes);
    this.#file?.write(bytes);
  }
}
