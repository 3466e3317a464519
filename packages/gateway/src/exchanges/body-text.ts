/**
 * Masks one body. Each result is the masked text so far; the last bytes may be held back until more is known. `fork`: a
 * stream that continues from here as this one would, `undefined` when what was passed on would be masked otherwise now.
 */
export type MaskStream = { push(chunk: Buffer): Buffer; end(): Buffer; fork?(): MaskStream | undefined };

/** So much is masked at once. Then the event loop may run other work. */
const SLICE_BYTES = 16 * 1024;
/** A longer request is not kept for the one that follows it. */
const MOST_REMEMBERED_BYTES = 4 * 1024 * 1024;

/** A part of a body. `after`: the mask behind it; absent where no other part can follow. */
type Slice = { bytes: Buffer; text: Buffer; after?: MaskStream | undefined };

const EMPTY = Buffer.alloc(0);
const NO_MASK: MaskStream = { push: (chunk) => chunk, end: () => EMPTY, fork: () => NO_MASK };

/**
 * Turns bodies into the inside of a JSON string, masked, piece by piece. The request of an agent begins with most of the
 * request before it. The text of that beginning is made once.
 */
export function bodyTexts(openMask: () => MaskStream = () => NO_MASK) {
  let before: Slice[] = [];

  function* textsOf(body: Buffer, slices: Slice[], mask: MaskStream): Generator<Buffer> {
    for (const slice of slices) yield slice.text;
    for (const slice of slicesOf(body, lengthOf(slices), mask)) {
      slices.push(slice);
      yield slice.text;
    }
    before = body.length <= MOST_REMEMBERED_BYTES ? slices : [];
  }

  return {
    /** Made as they are read, unless little of the body is new: then they do not keep the body in memory. */
    request(body: Buffer): Iterable<Buffer> {
      const same = sameSlices(before, body);
      const after = same.at(-1)?.after?.fork?.();
      const slices = after ? same : [];
      const texts = textsOf(body, slices, after ?? openMask());
      return body.length - lengthOf(slices) <= SLICE_BYTES ? [...texts] : texts;
    },

    *reply(body: Buffer): Generator<Buffer> {
      for (const { text } of slicesOf(body, 0, openMask())) yield text;
    },
  };
}

/** The slices that the body begins with, as parts of this body: those of an earlier one would keep all of that in memory. */
function sameSlices(before: readonly Slice[], body: Buffer): Slice[] {
  const same: Slice[] = [];
  let end = 0;
  for (const slice of before) {
    const bytes = body.subarray(end, end + slice.bytes.length);
    if (!bytes.equals(slice.bytes)) break;
    same.push({ ...slice, bytes });
    end += bytes.length;
  }
  while (same.length > 0 && !same.at(-1)?.after) same.pop();
  return same;
}

function* slicesOf(body: Buffer, start: number, mask: MaskStream): Generator<Slice> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let from = start; from < body.length; from += SLICE_BYTES) {
    const bytes = body.subarray(from, from + SLICE_BYTES);
    const masked = mask.push(bytes);
    const text = insideOfString(decoder.decode(masked, { stream: true }));
    yield { bytes, text, after: endsWithAscii(masked) ? mask.fork?.() : undefined };
  }
  yield { bytes: EMPTY, text: insideOfString(decoder.decode(mask.end())) };
}

const lengthOf = (slices: readonly Slice[]): number =>
  slices.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Then the decoder holds no part of a character, and a new one can continue. */
const endsWithAscii = (bytes: Buffer): boolean => (bytes.at(-1) ?? 0xff) < 0x80;

const insideOfString = (text: string): Buffer => Buffer.from(JSON.stringify(text)).subarray(1, -1);
