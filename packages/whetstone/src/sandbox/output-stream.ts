import type { Readable } from 'node:stream';
import { CapturedOutput } from './captured-output.ts';
import type { Mask } from './mask.ts';
import { OutputFile } from './output-file.ts';

export type OutputStreamOptions = {
  onChunk: ((chunk: Buffer) => void) | undefined;
  file: string | undefined;
  fileLimitBytes: number;
  mask: Mask | undefined;
};

/** One output stream of a command on its way to memory, a file and a listener. The file sets the pace. */
export class OutputStream {
  readonly #captured = new CapturedOutput();
  readonly #file: OutputFile | undefined;
  readonly #masking: ReturnType<Mask['stream']> | undefined;
  readonly #onChunk: ((chunk: Buffer) => void) | undefined;
  #bytes = 0;

  constructor(options: OutputStreamOptions) {
    this.#file =
      options.file === undefined ? undefined : new OutputFile(options.file, options.fileLimitBytes);
    this.#masking = options.mask?.stream();
    this.#onChunk = options.onChunk;
  }

  /** Bytes as printed, before masking. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reads to the end of `source`; resolves when it is closed, for whatever reason. */
  read(source: Readable): Promise<void> {
    source.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#deliver(this.#masking ? this.#masking.push(chunk) : chunk) === 'wait') {
        source.pause();
        this.#file?.onDrain(() => source.resume());
      }
    });
    source.on('error', () => {});
    return new Promise((resolve) => {
      source.once('close', resolve);
    });
  }

  text(): string {
    return this.#captured.text();
  }

  /** Rejects when the file could not be written whole. */
  async close(): Promise<void> {
    if (this.#masking) this.#deliver(this.#masking.end());
    await this.#file?.close();
  }

  #deliver(bytes: Buffer): 'go-on' | 'wait' {
    if (bytes.length === 0) return 'go-on';
    this.#captured.append(bytes);
    this.#onChunk?.(bytes);
    return this.#file?.write(bytes) ?? 'go-on';
  }
}
