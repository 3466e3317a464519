/** A text file taken apart so that an edit can put it together again as it was. */
export type TextFile = {
  /** Without the byte order mark, line ends as they are. */
  text: string;
  bom: boolean;
};

/** Throws where the bytes are not text: an edit of them would destroy what it did not understand. */
export function decodeTextFile(bytes: Uint8Array, path: string): TextFile {
  if (looksBinary(bytes)) throw new Error(`${path} is a binary file; it cannot be edited as text.`);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      bom ? bytes.subarray(3) : bytes,
    );
    return { text, bom };
  } catch {
    throw new Error(`${path} is not valid UTF-8; it cannot be edited as text.`);
  }
}

export function encodeTextFile({ text, bom }: TextFile): Uint8Array {
  return new TextEncoder().encode(bom ? `\ufeff${text}` : text);
}

const SNIFF_BYTES = 8 * 1024;

/** A NUL byte near the start: the rule that git and grep use. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFF_BYTES).includes(0);
}

/** The line end of the first line; a file keeps its style. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const end = text.indexOf('\n');
  return end > 0 && text[end - 1] === '\r' ? '\r\n' : '\n';
}

/** The line with typographic dashes, quotes and spaces made plain, so that text that a model retyped is found. */
export function plainPunctuation(line: string): string {
  return line
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}
