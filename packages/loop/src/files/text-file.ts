/** The parts of a text file that an edit has to keep. */
export type TextFile = {
  /** Without the byte order mark. Line ends are as they were. */
  text: string;
  bom: boolean;
};

export const BOM = '\ufeff';

/** Throws where the bytes are not UTF-8 text, because an edit would destroy them. */
export function decodeTextFile(bytes: Uint8Array, path: string): TextFile {
  if (looksBinary(bytes)) throw new Error(`${path} is a binary file. It cannot be edited as text.`);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      bom ? bytes.subarray(3) : bytes,
    );
    return { text, bom };
  } catch {
    throw new Error(`${path} is not valid UTF-8. It cannot be edited as text.`);
  }
}

export function encodeTextFile({ text, bom }: TextFile): Uint8Array {
  return new TextEncoder().encode(bom ? BOM + text : text);
}

const SNIFF_BYTES = 8 * 1024;

/** Whether there is a NUL byte near the start, which is the rule of git and grep. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFF_BYTES).includes(0);
}

/** The line end of the first line, which an edit keeps. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const end = text.indexOf('\n');
  return end > 0 && text[end - 1] === '\r' ? '\r\n' : '\n';
}

/** The lines without their ends. A line end at the end of the text begins no further line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The line with plain dashes, quotes and spaces for typographic ones, so that text which a model retyped is found. */
export function plainPunctuation(line: string): string {
  return line
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}

/** Whether a file starts with the byte order mark of UTF-16 (little-endian), as some editors of Windows write it. */
export const startsAsUtf16 = (bytes: Uint8Array): boolean => bytes[0] === 0xff && bytes[1] === 0xfe;
