import picomatch from 'picomatch';
import { pathsOf, resolvePath } from '../environment/environment-path.ts';
import { walkFiles } from '../search/walk-files.ts';
import { builtInTool } from './built-in-tool.ts';
import { optional, START_DIRECTORY, text } from './parameters.ts';
import type { ToolContext } from './tool.ts';

/** Files that are asked for their time at once. */
const STAT_BATCH = 64;

/** Finds files by name, the newest first (loop spec 3.3). */
export const globTool = builtInTool({
  name: 'glob',
  description:
    'Finds files whose path fits a glob pattern, the last changed first. Leaves out what .gitignore and .ignore exclude.',
  parameters: {
    pattern: text('For example "**/*.ts" or "src/*.json"', { minLength: 1 }),
    path: optional(START_DIRECTORY),
  },
  concurrency: 'shared',
  guidance: 'to find files by their name.',
  executor: async ({ pattern, path = '.' }, context) => {
    const files = await findFiles(context, { pattern, path });
    return files.length === 0 ? 'No files found.' : files.join('\n');
  },
});

export type FileQuery = {
  pattern: string;
  path: string;
  caseInsensitive?: boolean;
  /** Names of the files that say what to leave out. Default `.gitignore` and `.ignore`. */
  ignoreFiles?: readonly string[];
};

/** The files whose path fits, the last changed first, as paths that a tool of the same environment takes. */
export async function findFiles(
  { environment, signal }: ToolContext,
  { pattern, path, caseInsensitive = false, ignoreFiles }: FileQuery,
): Promise<string[]> {
  const paths = pathsOf(environment);
  const root = resolvePath(environment, path);
  if ((await environment.stat(root))?.kind !== 'directory') throw new Error(`Not a directory: ${path}`);
  const matches = picomatch(relativePattern(pattern, root), { dot: true, nocase: caseInsensitive });
  const found: string[] = [];
  for await (const file of walkFiles(environment, root, signal, ignoreFiles))
    if (matches(file)) found.push(file);

  const dated: { file: string; modifiedMs: number }[] = [];
  for (let start = 0; start < found.length; start += STAT_BATCH) {
    const batch = found.slice(start, start + STAT_BATCH).map(async (file) => {
      const stat = await environment.stat(paths.join(root, file)).catch(() => undefined);
      return { file, modifiedMs: stat?.modifiedMs ?? 0 };
    });
    dated.push(...(await Promise.all(batch)));
  }
  const prefix = path === '.' || path === './' ? '' : `${path.replace(/\/+$/, '')}/`;
  return dated.toSorted((left, right) => right.modifiedMs - left.modifiedMs).map(({ file }) => prefix + file);
}

/** Models write absolute patterns and a leading `./`. */
function relativePattern(pattern: string, root: string): string {
  if (pattern.startsWith(`${root}/`)) return pattern.slice(root.length + 1);
  return pattern.replace(/^\.\//, '');
}
