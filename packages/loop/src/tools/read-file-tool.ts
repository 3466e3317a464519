import { builtInTool } from './built-in-tool.ts';
import { DEFAULT_LINES, loadLines } from './load-file.ts';
import { FILE_PATH, integer, optional } from './parameters.ts';
import type { ToolContext, ToolOutput } from './tool.ts';

/** Reads a file with line numbers, or an image as an image (loop spec 3.3). */
export const readFileTool = builtInTool({
  name: 'read_file',
  description:
    'Reads a file. Text comes with line numbers, as "NNN | content"; PNG, JPEG, GIF and WebP files come as images. ' +
    `Without offset and limit it shows the first ${DEFAULT_LINES} lines.`,
  parameters: {
    file_path: FILE_PATH,
    offset: optional(integer('Number of the first line to show, from 1', { minimum: 1 })),
    limit: optional(integer(`Lines to show at most (default ${DEFAULT_LINES})`, { minimum: 1 })),
  },
  concurrency: 'shared',
  output: { maxChars: 50_000, mode: 'head_tail', spill: false },
  guidance:
    'read a file before you change it; for a long file, read the part that matters with offset and limit.',
  executor: ({ file_path, offset = 1, limit = DEFAULT_LINES }, context) =>
    readNumbered(context, file_path, { offset, limit, render: (number, line) => `${number} | ${line}` }),
});

/** A range of lines of a file with their numbers, and where to continue; an image as it is. */
export async function readNumbered(
  { environment }: ToolContext,
  path: string,
  {
    offset,
    limit,
    render,
  }: { offset: number; limit: number; render: (number: number, line: string) => string },
): Promise<ToolOutput> {
  const file = await loadLines(environment, path, offset, limit);
  if (file.kind === 'image') return { content: [file.image] };
  const { shown, last, total } = file;
  if (total === 0) return `(${path} is empty)`;
  const numbered = shown.map((line, index) => render(offset + index, line));
  if (last !== total) {
    const whole = total === undefined ? '; the file goes on' : ` of ${total}`;
    numbered.push(`(lines ${offset} to ${last}${whole}; continue with offset=${last + 1})`);
  }
  return numbered.join('\n');
}
