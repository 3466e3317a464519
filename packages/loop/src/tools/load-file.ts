import type { ImagePart } from '../conversation/turn.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { readFile, statFile } from '../files/file-access.ts';
import { linesOf, looksBinary } from '../files/text-file.ts';

export const DEFAULT_LINES = 2_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** What a model can see of a file. Lines are without their ends. */
export type LoadedFile = { kind: 'image'; image: ImagePart } | { kind: 'text'; lines: string[] };

/** Reads a file for the model: PNG, JPEG, GIF and WebP as an image, else text. Throws for what is neither. */
export async function loadFile(environment: ExecutionEnvironment, path: string): Promise<LoadedFile> {
  const { size } = await statFile(environment, path);
  if (size > MAX_FILE_BYTES) {
    throw new Error(
      `${path} has ${size} bytes, too many to read at once. Use the shell (head, tail, sed -n) or grep.`,
    );
  }
  const bytes = await readFile(environment, path);
  const image = asImage(bytes);
  if (image && bytes.length > MAX_IMAGE_BYTES)
    throw new Error(`${path} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`);
  if (image) return { kind: 'image', image };
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  if (encoding === 'utf-8' && looksBinary(bytes))
    throw new Error(`${path} is a binary file (${size} bytes); it cannot be shown as text.`);
  return { kind: 'text', lines: linesOf(new TextDecoder(encoding).decode(bytes)) };
}

/** Some of a file's lines, from number `first`. Throws where there is no such line. */
export function selectLines(lines: readonly string[], path: string, first: number, limit: number) {
  if (first > lines.length) throw new Error(`${path} has ${lines.length} lines. There is no line ${first}.`);
  const shown = lines.slice(first - 1, first - 1 + limit);
  return { shown, last: first + shown.length - 1, total: lines.length };
}

/** How files of each type begin, read as Latin-1. */
const IMAGE_SIGNATURES: readonly (readonly [mediaType: string, signature: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];

function asImage(bytes: Uint8Array): ImagePart | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  const mediaType = IMAGE_SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
  if (mediaType === undefined) return undefined;
  return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') };
}
