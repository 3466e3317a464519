import picomatch from 'picomatch';
import { pathsOf, resolvePath } from '../environment/environment-path.ts';
import { walkFiles } from '../search/walk-files.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';

type GlobArguments = { pattern: string; path?: string };

/** Files that are asked for their time at once. */
const STAT_BATCH = 64;

/** Finds files by name, the newest first (loop spec 3.3). */
export function createGlobTool(): RegisteredTool {
  return defineTool<GlobArguments>({
    definition: {
      name: 'glob',
      description:
        'Finds files whose path fits a glob pattern, the last changed first. Leaves out what .gitignore and .ignore exclude.',
      parameters: {
        type: 'object',
        properties: {
          pattern: { type: 'string', minLength: 1, description: 'For example "**/*.ts" or "src/*.json"' },
          path: { type: 'string', description: 'Directory to start from (default: the working directory)' },
        },
        required: ['pattern'],
      },
    },
    concurrency: 'shared',
    guidance: 'to find files by their name.',
    executor: execute,
  });
}

async function execute({ pattern, path = '.' }: GlobArguments, context: ToolContext): Promise<ToolOutput> {
  const { environment, signal } = context;
  const paths = pathsOf(environment);
  const root = resolvePath(environment, path);
  if ((await environment.stat(root))?.kind !== 'directory') throw new Error(`Not a directory: ${path}`);
  const matches = picomatch(relativePattern(pattern, root), { dot: true });
  const found: string[] = [];
  for await (const file of walkFiles(environment, root, signal)) if (matches(file)) found.push(file);
  if (found.length === 0) return 'No files found.';

  const dated: { file: string; modifiedMs: number }[] = [];
  for (let start = 0; start < found.length; start += STAT_BATCH) {
    const batch = found.slice(start, start + STAT_BATCH).map(async (file) => {
      const modifiedMs =
        (await environment.stat(paths.join(root, file)).catch(() => undefined))?.modifiedMs ?? 0;
      return { file, modifiedMs };
    });
    dated.push(...(await Promise.all(batch)));
  }
  const prefix = path === '.' || path === './' ? '' : `${path.replace(/\/+$/, '')}/`;
  return dated
    .toSorted((left, right) => right.modifiedMs - left.modifiedMs)
    .map(({ file }) => prefix + file)
    .join('\n');
}

/** Models write absolute patterns and a leading `./`. */
function relativePattern(pattern: string, root: string): string {
  if (pattern.startsWith(`${root}/`)) return pattern.slice(root.length + 1);
  return pattern.replace(/^\.\//, '');
}
