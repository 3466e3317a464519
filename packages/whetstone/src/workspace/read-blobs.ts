import { streamGit } from './git.ts';

/** Calls `each` with every blob of `oids`, in order, which it must read to the end. Streams from one process. */
export async function readBlobs(
  gitDir: string,
  oids: readonly string[],
  each: (content: AsyncIterable<Buffer>, index: number) => Promise<void>,
): Promise<void> {
  if (oids.length === 0) return;
  const input = oids.map((oid) => `${oid}\n`).join('');
  await streamGit(['cat-file', '--batch'], { gitDir, input }, async (output) => {
    const reader = new ByteReader(output);
    for (const [index, oid] of oids.entries()) {
      const header = /^([0-9a-f]+) blob (\d+)$/.exec(await reader.line());
      if (!header) throw new Error(`git has no blob ${oid}`);
      await each(reader.bytes(Number(header[2])), index);
      await reader.line();
    }
  });
}

/** Reads lines and given numbers of bytes from one stream. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    let line = '';
    for (;;) {
      const end = this.#rest.indexOf(10);
      line += this.#rest.toString('latin1', 0, end === -1 ? this.#rest.length : end);
      if (end !== -1) {
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      await this.#more();
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }

  async #more(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw new Error('the output of git ended early');
    this.#rest = next.value;
  }
}
