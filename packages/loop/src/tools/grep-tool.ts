import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { pathsOf, resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { searchWithOwnEngine } from '../search/own-search.ts';
import { hasRipgrep, searchWithRipgrep } from '../search/ripgrep-search.ts';
import type { SearchHit, SearchMode, SearchQuery, SearchResult } from '../search/text-search.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';

type GrepArguments = {
  pattern: string;
  path?: string;
  glob_filter?: string;
  case_insensitive?: boolean;
  max_results?: number;
  output_mode?: SearchMode;
};

const DEFAULT_RESULTS = 100;
/** Of a matching line; a minified file must not fill the answer. */
const MAX_LINE = 500;

/** Searches file contents (loop spec 3.3). With `outputModes` the model may ask for file names or counts alone. */
export function createGrepTool({ outputModes }: { outputModes: boolean }): RegisteredTool {
  const modes: JsonObject = {
    output_mode: {
      type: 'string',
      enum: ['content', 'files_with_matches', 'count'],
      description: 'Matching lines (default), the names of files with a match, or matches per file',
    },
  };
  return defineTool<GrepArguments>({
    definition: {
      name: 'grep',
      description:
        'Searches the contents of files with a regular expression. Returns "path:line:text". Leaves out binary files ' +
        'and what .gitignore and .ignore exclude.',
      parameters: {
        type: 'object',
        properties: {
          pattern: { type: 'string', minLength: 1, description: 'Regular expression, matched line by line' },
          path: {
            type: 'string',
            description: 'Directory or file to search (default: the working directory)',
          },
          glob_filter: { type: 'string', description: 'Only files that fit this glob, for example "*.py"' },
          case_insensitive: { type: 'boolean', description: 'Ignore case (default false)' },
          max_results: {
            type: 'integer',
            minimum: 1,
            description: `Results at most (default ${DEFAULT_RESULTS})`,
          },
          ...(outputModes ? modes : {}),
        },
        required: ['pattern'],
      },
    },
    concurrency: 'shared',
    guidance: 'to find where something is defined or used.',
    executor: execute,
  });
}

async function execute(args: GrepArguments, context: ToolContext): Promise<ToolOutput> {
  const query: SearchQuery = {
    pattern: args.pattern,
    caseInsensitive: args.case_insensitive ?? false,
    maxResults: args.max_results ?? DEFAULT_RESULTS,
    mode: args.output_mode ?? 'content',
    ...present({ globFilter: args.glob_filter }),
  };
  const { hits, more } = await searchFiles(context, args.path, query);
  if (hits.length === 0) return 'No matches found.';
  const lines = hits.map(render);
  if (more) lines.push(`(more than ${query.maxResults} results; narrow the search or raise max_results)`);
  return lines.join('\n');
}

/**
 * Searches with ripgrep where the environment has it, else with our own engine. The paths of the hits are as the model
 * would have to write them. Throws where there is no such path and where the pattern does not compile.
 */
export async function searchFiles(
  { environment, signal }: ToolContext,
  path: string | undefined,
  query: SearchQuery,
): Promise<SearchResult> {
  const root = resolvePath(environment, path ?? '.');
  if ((await environment.stat(root)) === undefined) throw new Error(`Path not found: ${path}`);
  const search = (await hasRipgrep(environment)) ? searchWithRipgrep : searchWithOwnEngine;
  try {
    const { hits, more } = await search(environment, root, query, signal);
    const prefix = await displayPrefix(environment, path, root);
    return { hits: hits.map((hit) => ({ ...hit, path: prefix + hit.path })), more };
  } catch (error) {
    if (error instanceof WhetstoneError && error.code === 'search-pattern-invalid')
      throw new Error(`Invalid pattern: ${error.message}`);
    throw error;
  }
}

/** Paths are shown as the model would have to write them, from the working directory. */
async function displayPrefix(
  environment: ExecutionEnvironment,
  path: string | undefined,
  root: string,
): Promise<string> {
  if (path === undefined || path === '.' || path === './') return '';
  const folder = (await environment.stat(root))?.kind === 'file' ? pathsOf(environment).dirname(path) : path;
  return folder === '.' ? '' : `${folder.replace(/\/+$/, '')}/`;
}

function render({ path, line, text, count }: SearchHit): string {
  if (count !== undefined) return `${path}:${count}`;
  return text === undefined ? path : `${path}:${line}:${cutLine(text)}`;
}

/** A matching line as the model gets it. */
export function cutLine(text: string): string {
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE).toWellFormed()} [line cut]`;
}
