/**
 * Replaces secrets by `[masked]`, in text, in bytes, and in streams whatever their chunks are. It finds a secret as it
 * is, backwards, and in its usual encodings: JSON string, percent-encoding (also of every byte), base64 and hex. Base64
 * is found at any alignment, and like hex with line breaks in it, as `base64` and `xxd` print them.
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

export type MaskStream = {
  /** The masked stream so far, without the last bytes if they may begin a secret. */
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  /**
   * A stream that continues from here as this one would. `undefined` when secrets were added since the stream began: what
   * it has passed on may have one of them.
   */
  fork(): MaskStream | undefined;
};

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

function createMaskStream(
  current: () => PatternSet,
  began = current(),
  held: Buffer = Buffer.alloc(0),
): MaskStream {
  return {
    push(chunk) {
      const patterns = current();
      if (patterns.isEmpty) return chunk;
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const { output, rest } = replaceIn(bytes, patterns, false);
      // A copy, so that a few held bytes do not keep a whole chunk alive.
      held = Buffer.from(rest);
      return output;
    },
    end() {
      const { output } = replaceIn(held, current(), true);
      held = Buffer.alloc(0);
      return output;
    },
    fork: () => (current() === began ? createMaskStream(current, began, held) : undefined),
  };
}

/** A spelling of a secret. `wraps`: line breaks may stand in it. */
type Form = { bytes: Buffer; wraps: boolean };

/** A secret as it is and in its usual encodings. */
export function secretForms(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret);
  const hex = bytes.toString('hex');
  const everyByte = hex.replace(/../g, '%$&');
  const spellings = [
    secret,
    [...secret].reverse().join(''),
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    everyByte,
    everyByte.toUpperCase(),
  ];
  const wrapped = [hex, hex.toUpperCase(), ...base64Forms(bytes)];
  return [
    ...[...new Set(spellings)].map((spelling) => ({ bytes: Buffer.from(spelling), wraps: false })),
    ...[...new Set(wrapped)].flatMap(breakable),
  ];
}

/** A line break after the first character would hide the pair of bytes that a scan looks for. */
const breakable = (spelling: string): Form[] =>
  [spelling, ...(spelling.length > SHORTEST_LINE ? [spelling.slice(1)] : [])].map((text) => ({
    bytes: Buffer.from(text),
    wraps: true,
  }));

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

const [LF, CR, BACKSLASH, LETTER_N, LETTER_R] = [10, 13, 0x5c, 0x6e, 0x72];

/** Lines of encoded text are at least so long; `base64` breaks at 76, `xxd -p` at 60. */
const SHORTEST_LINE = 16;
/** CR and LF, as in a JSON string. */
const LONGEST_BREAK = 4;

/** The most bytes that a form takes up in a text. */
const reach = ({ bytes, wraps }: Form): number =>
  bytes.length + (wraps ? LONGEST_BREAK * Math.ceil(bytes.length / SHORTEST_LINE) : 0);

/** How many bytes at `position` are this form, or 0. `cut`: the text ends within what may be the form. */
function lengthAt(text: Buffer, position: number, form: Form): number | 'cut' {
  const { bytes, wraps } = form;
  if (!wraps) {
    const length = Math.min(bytes.length, text.length - position);
    if (text.compare(bytes, 0, length, position, position + length) !== 0) return 0;
    return length === bytes.length ? length : 'cut';
  }
  const last = position + reach(form);
  let at = position;
  for (let matched = 0; matched < bytes.length; at++) {
    if (at >= text.length) return 'cut';
    const byte = text[at];
    if (byte === bytes[matched]) matched += 1;
    else if (matched === 0 || at > last) return 0;
    else if (byte === BACKSLASH) {
      at += 1;
      if (at < text.length && text[at] !== LETTER_N && text[at] !== LETTER_R) return 0;
    } else if (byte !== LF && byte !== CR) return 0;
  }
  return at - position;
}

/** Patterns by their first two bytes, longest first. A bitmap of these pairs lets a scan skip all other bytes. */
class PatternSet {
  readonly pairs = new Uint8Array(65_536);
  readonly firsts = new Uint8Array(256);
  /** The most bytes that one of them takes up. */
  readonly longest: number;
  readonly #all: Form[];
  readonly #byPair: Map<number, Form[]>;

  constructor(patterns: Form[]) {
    this.#all = [...patterns].sort((left, right) => right.bytes.length - left.bytes.length);
    this.longest = Math.max(0, ...this.#all.map(reach));
    this.#byPair = Map.groupBy(this.#all, ({ bytes }) => bytes.readUInt16BE(0));
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
      const length = lengthAt(bytes, position, pattern);
      if (length !== 'cut' && length > 0) return length;
    }
    return 0;
  }

  /** Whether the bytes from `position` to the end are the beginning of a longer pattern. */
  mayContinue(bytes: Buffer, position: number): boolean {
    return this.#all.some((pattern) => lengthAt(bytes, position, pattern) === 'cut');
  }
}

/** The first position from `from` on at which a pattern may begin, at most `end`. Most bytes begin nothing. */
function skipTo(bytes: Uint8Array, from: number, end: number, pairs: Uint8Array): number {
  if (from >= end) return from;
  let position = from;
  let pair = bytes[position] ?? 0;
  for (; position < end; position++) {
    pair = ((pair << 8) | (bytes[position + 1] ?? 0)) & 0xffff;
    if (pairs[pair] === 1) return position;
  }
  return position;
}

function replaceIn(bytes: Buffer, patterns: PatternSet, isLast: boolean): { output: Buffer; rest: Buffer } {
  const pieces: Buffer[] = [];
  let kept = 0;
  let position = 0;
  // Before this, a pattern that begins is whole, and there is a pair of bytes.
  const plainEnd = isLast ? bytes.length - 1 : bytes.length - patterns.longest;
  while (position < bytes.length) {
    position = skipTo(bytes, position, plainEnd, patterns.pairs);
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
