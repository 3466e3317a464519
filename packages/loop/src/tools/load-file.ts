import { imageTypeOf } from '../conversation/image-type.ts';
import type { ImagePart } from '../conversation/turn.ts';
import { resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { readFile, statFile } from '../files/file-access.ts';
import { linesOf, looksBinary, startsAsUtf16 } from '../files/text-file.ts';

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
  const encoding = encodingOf(bytes, path, size);
  return { kind: 'text', lines: linesOf(new TextDecoder(encoding).decode(bytes)) };
}

/** Some lines of a file. `total` is absent where the end of the file was not reached. */
export type SomeLines = { kind: 'text'; shown: string[]; last: number; total: number | undefined };

/** At most `limit` lines of a file from number `first` on, or an image. Throws where there is no such line. */
export async function loadLines(
  environment: ExecutionEnvironment,
  path: string,
  first: number,
  limit: number,
): Promise<Extract<LoadedFile, { kind: 'image' }> | SomeLines> {
  const { size } = await statFile(environment, path);
  const window =
    size > WINDOW_BYTES ? await readWindow(environment, path, { size, first, limit }) : undefined;
  if (window) return window;
  const file = await loadFile(environment, path);
  if (file.kind === 'image') return file;
  const { lines } = file;
  if (first > Math.max(1, lines.length)) throw noSuchLine(path, lines.length, first);
  const shown = lines.slice(first - 1, first - 1 + limit);
  return { kind: 'text', shown, last: first + shown.length - 1, total: lines.length };
}

/** Read at a time. A smaller file is read whole. */
const WINDOW_BYTES = 1024 * 1024;

const noSuchLine = (path: string, count: number, line: number): Error =>
  new Error(`${path} has ${count} lines. There is no line ${line}.`);

/** Reads a text file only as far as its wanted lines. `undefined` for an image, and where the environment has no ranges. */
async function readWindow(
  environment: ExecutionEnvironment,
  path: string,
  { size, first, limit }: { size: number; first: number; limit: number },
): Promise<SomeLines | undefined> {
  if (!environment.readRange) return undefined;
  const absolute = resolvePath(environment, path);
  const start = await environment.readRange(absolute, 0, WINDOW_BYTES);
  if (asImage(start)) return undefined;
  const decoder = new TextDecoder(encodingOf(start, path, size));
  const shown: string[] = [];
  let count = 0;
  let unfinished = '';
  for (let bytes = start, offset = start.length; ; offset += bytes.length) {
    const isEnd = bytes.length === 0;
    const lines = (unfinished + decoder.decode(bytes, { stream: !isEnd })).split('\n');
    // A line without an end must not fill the memory; the model reads far less of it.
    unfinished = (lines.pop() ?? '').slice(0, WINDOW_BYTES);
    if (isEnd && unfinished !== '') lines.push(unfinished);
    for (const line of lines) {
      if (shown.length === limit) return { kind: 'text', shown, last: count, total: undefined };
      count += 1;
      if (count >= first) shown.push(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
    if (isEnd) break;
    bytes = await environment.readRange(absolute, offset, WINDOW_BYTES);
  }
  if (first > count) throw noSuchLine(path, count, first);
  return { kind: 'text', shown, last: count, total: count };
}

function encodingOf(bytes: Uint8Array, path: string, size: number): 'utf-16le' | 'utf-8' {
  if (startsAsUtf16(bytes)) return 'utf-16le';
  if (looksBinary(bytes))
    throw new Error(`${path} is a binary file (${size} bytes); it cannot be shown as text.`);
  return 'utf-8';
}

function asImage(bytes: Uint8Array): ImagePart | undefined {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === undefined) return undefined;
  return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') };
}
