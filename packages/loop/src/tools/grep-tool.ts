import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { pathsOf, resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { searchFiles } from '../search/ripgrep-search.ts';
import {
  type SearchHit,
  type SearchMode,
  type SearchQuery,
  type SearchResult,
  skippedNote,
} from '../search/text-search.ts';
import { builtInTool } from './built-in-tool.ts';
import { type Arguments, flag, integer, oneOf, optional, text } from './parameters.ts';
import type { RegisteredTool, ToolContext, ToolOutput } from './tool.ts';

const DEFAULT_RESULTS = 100;
/** Of a matching line; a minified file must not fill the answer. */
const MAX_LINE = 500;

export const SEARCH_MODES = ['content', 'files_with_matches', 'count'] as const satisfies SearchMode[];

const parameters = {
  pattern: text('Regular expression, matched line by line', { minLength: 1 }),
  path: optional(text('Directory or file to search (default: the working directory)')),
  glob_filter: optional(text('Only files that fit this glob, for example "*.py"')),
  case_insensitive: optional(flag('Ignore case (default false)')),
  max_results: optional(integer(`Results at most (default ${DEFAULT_RESULTS})`, { minimum: 1 })),
};
const outputMode = oneOf(
  SEARCH_MODES,
  'Matching lines (default), the names of files with a match, or matches per file',
);

/** Searches file contents (loop spec 3.3). With `outputModes` the model may ask for file names or counts only. */
export function createGrepTool({ outputModes }: { outputModes: boolean }): RegisteredTool {
  return builtInTool({
    name: 'grep',
    description:
      'Searches the contents of files with a regular expression. Returns "path:line:text". Leaves out binary files ' +
      'and what .gitignore and .ignore exclude.',
    parameters: outputModes ? { ...parameters, output_mode: optional(outputMode) } : parameters,
    concurrency: 'shared',
    guidance: 'to find where something is defined or used.',
    executor: execute,
  });
}

type GrepArguments = Arguments<typeof parameters> & { output_mode?: SearchMode };

async function execute(args: GrepArguments, context: ToolContext): Promise<ToolOutput> {
  const query: SearchQuery = {
    pattern: args.pattern,
    caseInsensitive: args.case_insensitive ?? false,
    maxResults: args.max_results ?? DEFAULT_RESULTS,
    mode: args.output_mode ?? 'content',
    ...present({ globFilter: args.glob_filter }),
  };
  const { hits, more, skipped } = await search(context, args.path, query);
  const note = skippedNote(skipped);
  const lines = hits.length === 0 ? ['No matches found.'] : hits.map(render);
  if (note !== '') lines.push(note);
  if (more) lines.push(`(more than ${query.maxResults} results; narrow the search or raise max_results)`);
  return lines.join('\n');
}

/** Searches files. The paths of the result are as the model writes them. */
export async function search(
  { environment, signal }: ToolContext,
  path: string | undefined,
  query: SearchQuery,
): Promise<SearchResult> {
  const root = resolvePath(environment, path ?? '.');
  if ((await environment.stat(root)) === undefined) throw new Error(`Path not found: ${path}`);
  try {
    const { hits, more, skipped } = await searchFiles(environment, root, query, signal);
    const prefix = await displayPrefix(environment, path, root);
    const named = <T extends { path: string }>(entry: T): T => ({ ...entry, path: prefix + entry.path });
    return { hits: hits.map(named), more, skipped: skipped.map(named) };
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
