import type { ImagePart } from '../turn.ts';
import { readFile, statFile } from './file-access.ts';
import { looksBinary } from './text-file.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';

type ReadFileArguments = { file_path: string; offset?: number; limit?: number };

const DEFAULT_LINES = 2_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Reads a file with line numbers, or an image as an image (loop spec 3.3). */
export function createReadFileTool(): RegisteredTool {
  return defineTool<ReadFileArguments>({
    definition: {
      name: 'read_file',
      description:
        'Reads a file. Text comes with line numbers, as "NNN | content"; PNG, JPEG, GIF and WebP files come as images. ' +
        `Without offset and limit it shows the first ${DEFAULT_LINES} lines.`,
      parameters: {
        type: 'object',
        properties: {
          file_path: { type: 'string', description: 'Absolute, or relative to the working directory' },
          offset: { type: 'integer', minimum: 1, description: 'Number of the first line to show, from 1' },
          limit: {
            type: 'integer',
            minimum: 1,
            description: `Lines to show at most (default ${DEFAULT_LINES})`,
          },
        },
        required: ['file_path'],
      },
    },
    concurrency: 'shared',
    guidance:
      'read a file before you change it; for a long file, read the part that matters with offset and limit.',
    executor: execute,
  });
}

async function execute(args: ReadFileArguments, { environment }: ToolContext): Promise<ToolOutput> {
  const { file_path: path, offset = 1, limit = DEFAULT_LINES } = args;
  const { size } = await statFile(environment, path);
  if (size > MAX_FILE_BYTES) {
    throw new Error(
      `${path} has ${size} bytes, too many to read whole; use the shell (head, tail, sed -n) or grep.`,
    );
  }
  const bytes = await readFile(environment, path);
  const image = asImage(bytes);
  if (image && bytes.length > MAX_IMAGE_BYTES)
    throw new Error(`${path} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`);
  if (image) return { content: [image] };
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  if (encoding === 'utf-8' && looksBinary(bytes))
    throw new Error(`${path} is a binary file (${size} bytes); it cannot be shown as text.`);
  return numberLines(new TextDecoder(encoding).decode(bytes), path, offset, limit);
}

function numberLines(text: string, path: string, offset: number, limit: number): string {
  if (text === '') return `(${path} is empty)`;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length)
    throw new Error(`${path} has ${lines.length} lines; there is no line ${offset}.`);
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const last = offset + shown.length - 1;
  const numbered = shown.map(
    (line, index) => `${offset + index} | ${line.endsWith('\r') ? line.slice(0, -1) : line}`,
  );
  if (last < lines.length)
    numbered.push(`(lines ${offset} to ${last} of ${lines.length}; go on with offset=${last + 1})`);
  return numbered.join('\n');
}

const IMAGE_SIGNATURES: readonly { mediaType: string; matches: (bytes: Uint8Array) => boolean }[] = [
  { mediaType: 'image/png', matches: (bytes) => startsWith(bytes, 0, '\x89PNG\r\n') },
  { mediaType: 'image/jpeg', matches: (bytes) => startsWith(bytes, 0, '\xff\xd8\xff') },
  { mediaType: 'image/gif', matches: (bytes) => startsWith(bytes, 0, 'GIF8') },
  {
    mediaType: 'image/webp',
    matches: (bytes) => startsWith(bytes, 0, 'RIFF') && startsWith(bytes, 8, 'WEBP'),
  },
];

function asImage(bytes: Uint8Array): ImagePart | undefined {
  const type = IMAGE_SIGNATURES.find(({ matches }) => matches(bytes));
  return type && { type: 'image', mediaType: type.mediaType, data: Buffer.from(bytes).toString('base64') };
}

function startsWith(bytes: Uint8Array, at: number, signature: string): boolean {
  return Buffer.from(bytes.subarray(at, at + signature.length)).toString('latin1') === signature;
}
