/**
 * Replaces secrets by `[masked]`, in text, in bytes, and in streams whatever their chunks are. It finds a secret as it
 * is and in its usual encodings: JSON string, percent-encoding, base64 at any alignment, hex.
 */
export type Mask = {
  text(value: string): string;
  bytes(value: Buffer): Buffer;
  /** Masks these secrets too, from now on and also in streams that are open. */
  add(secrets: readonly string[]): void;
  /** Whether there is anything to mask. */
  readonly isEmpty: boolean;
  /** For one stream: the results of `push` and `end`, one after the other, equal `bytes` of the whole. */
  stream(): MaskStream;
};

export type MaskStream = ReturnType<typeof createMaskStream>;

/** Shorter values are mostly words: masking them would destroy logs and protect nothing. */
export const SHORTEST_SECRET = 6;
/** What stands in the place of a secret. */
export const MASKED = '[masked]';
const REPLACEMENT = Buffer.from(MASKED);

/** Makes a mask for these secrets; values under 6 characters are ignored. */
export function createMask(secrets: readonly string[]): Mask {
  const known = new Set<string>();
  let patterns = new PatternSet([]);
  const add = (more: readonly string[]): void => {
    const before = known.size;
    for (const secret of more) if (secret.length >= SHORTEST_SECRET) known.add(secret);
    if (known.size > before) patterns = new PatternSet([...known].flatMap(secretForms));
  };
  add(secrets);
  const bytes = (value: Buffer): Buffer => replaceIn(value, patterns, true).output;
  return {
    add,
    bytes,
    get isEmpty() {
      return patterns.isEmpty;
    },
    text: (value) => (patterns.isEmpty ? value : bytes(Buffer.from(value)).toString()),
    stream: () => createMaskStream(() => patterns),
  };
}

function createMaskStream(current: () => PatternSet) {
  let held: Buffer = Buffer.alloc(0);
  return {
    /** The masked stream so far, without the last bytes if they may begin a secret. */
    push(chunk: Buffer): Buffer {
      const patterns = current();
      if (patterns.isEmpty) return chunk;
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const { output, rest } = replaceIn(bytes, patterns, false);
      // A copy, so that a few held bytes do not keep a whole chunk alive.
      held = Buffer.from(rest);
      return output;
    },
    end(): Buffer {
      const { output } = replaceIn(held, current(), true);
      held = Buffer.alloc(0);
      return output;
    },
  };
}

/** A secret as it is and in its usual encodings, in bytes. */
export function secretForms(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret);
  const spellings = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ];
  return [...new Set(spellings)].map((spelling) => Buffer.from(spelling));
}

/**
 * Base64 encodes a secret in three ways, by where in a group of three bytes it starts. The characters at both ends also
 * depend on the neighbouring bytes, so only those between them are looked for.
 */
function base64Forms(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), secret])
      .toString('base64')
      .replace(/=+$/, '');
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + secret.length) * 8) / 6);
    const own = encoded.slice(start, end);
    return own.length < SHORTEST_SECRET ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Patterns by their first two bytes, longest first. A bitmap of these pairs lets a scan skip all other bytes. */
class PatternSet {
  readonly pairs = new Uint8Array(65_536);
  readonly firsts = new Uint8Array(256);
  readonly longest: number;
  readonly #all: Buffer[];
  readonly #byPair: Map<number, Buffer[]>;

  constructor(patterns: Buffer[]) {
    this.#all = [...patterns].sort((left, right) => right.length - left.length);
    this.longest = this.#all[0]?.length ?? 0;
    this.#byPair = Map.groupBy(this.#all, (pattern) => pattern.readUInt16BE(0));
    for (const pair of this.#byPair.keys()) {
      this.pairs[pair] = 1;
      this.firsts[pair >> 8] = 1;
    }
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Length of the longest pattern that stands at `position`, or 0. */
  matchAt(bytes: Buffer, position: number): number {
    for (const pattern of this.#byPair.get(bytes.readUInt16BE(position)) ?? []) {
      const end = position + pattern.length;
      if (end <= bytes.length && bytes.compare(pattern, 0, pattern.length, position, end) === 0) {
        return pattern.length;
      }
    }
    return 0;
  }

  /** Whether the bytes from `position` to the end are the beginning of a longer pattern. */
  mayContinue(bytes: Buffer, position: number): boolean {
    const length = bytes.length - position;
    return this.#all.some(
      (pattern) => pattern.length > length && bytes.compare(pattern, 0, length, position, bytes.length) === 0,
    );
  }
}

function replaceIn(bytes: Buffer, patterns: PatternSet, isLast: boolean): { output: Buffer; rest: Buffer } {
  const pieces: Buffer[] = [];
  let kept = 0;
  let position = 0;
  while (position < bytes.length) {
    const isNearEnd = bytes.length - position < patterns.longest;
    if (
      !isLast &&
      isNearEnd &&
      patterns.firsts[bytes[position] ?? 0] === 1 &&
      patterns.mayContinue(bytes, position)
    ) {
      break;
    }
    const pair = ((bytes[position] ?? 0) << 8) | (bytes[position + 1] ?? 0);
    const isCandidate = patterns.pairs[pair] === 1 && position + 1 < bytes.length;
    const length = isCandidate ? patterns.matchAt(bytes, position) : 0;
    if (length > 0) {
      pieces.push(bytes.subarray(kept, position), REPLACEMENT);
      kept = position + length;
    }
    position += Math.max(1, length);
  }
  const rest = bytes.subarray(position);
  if (pieces.length === 0) return { output: bytes.subarray(0, position), rest };
  pieces.push(bytes.subarray(kept, position));
  return { output: Buffer.concat(pieces), rest };
}
