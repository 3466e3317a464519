import { present } from '@whetstone/events/present';
import picomatch from 'picomatch';
import { resolvePath } from '../environment/environment-path.ts';
import { walkEntries } from '../search/walk-files.ts';
import { builtInTool } from './built-in-tool.ts';
import { integer, optional, text } from './parameters.ts';
import type { ToolContext } from './tool.ts';

const MAX_ENTRIES = 1_000;
const MAX_DEPTH = 20;

const LEVELS = 'Levels of subdirectories to list (default 1: only the entries of the directory)';

/** Lists a folder (loop spec 3.6). */
export const listDirectoryTool = builtInTool({
  name: 'list_dir',
  description:
    'Lists a directory, subdirectories with a slash at the end. Leaves out what .gitignore and .ignore exclude.',
  parameters: {
    path: optional(text('The directory (default: the working directory)')),
    depth: optional(integer(LEVELS, { minimum: 1, maximum: MAX_DEPTH })),
  },
  concurrency: 'shared',
  output: { maxChars: 20_000, maxLines: 500, mode: 'head' },
  guidance: 'to see what a directory holds.',
  executor: ({ path = '.', depth = 1 }, context) => listDirectory(context, { path, depth }),
});

export type DirectoryQuery = {
  path: string;
  depth: number;
  exclude?: readonly string[];
  ignoreFiles?: readonly string[];
};

/** The entries below a folder, one per line, each folder before its entries. */
export async function listDirectory(
  { environment, signal }: ToolContext,
  { path, depth, exclude = [], ignoreFiles }: DirectoryQuery,
): Promise<string> {
  const root = resolvePath(environment, path);
  if ((await environment.stat(root))?.kind !== 'directory') throw new Error(`Not a directory: ${path}`);
  const excluded = picomatch([...exclude], { dot: true, basename: true });
  const lines: string[] = [];
  const options = { signal, depth, ...present({ ignoreFiles }) };
  for await (const entry of walkEntries(environment, root, options)) {
    if (excluded(entry.path)) continue;
    if (lines.length === MAX_ENTRIES) {
      lines.push(`(more than ${MAX_ENTRIES} entries; list a subdirectory)`);
      break;
    }
    lines.push(entry.isDirectory ? `${entry.path}/` : entry.path);
  }
  return lines.length === 0 ? `(${path} is empty)` : lines.join('\n');
}
