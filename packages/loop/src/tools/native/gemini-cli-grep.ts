import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type SearchHit, type SearchResult, skippedNote } from '../../search/text-search.ts';
import { builtInTool } from '../built-in-tool.ts';
import { cutLine, search } from '../grep-tool.ts';
import { type Arguments, flag, integer, optional, text } from '../parameters.ts';
import type { ToolContext } from '../tool.ts';

const DEFAULT_MATCHES = 100;

const count = (minimum: number, description: string) => optional(integer(description, { minimum }));

const parameters = {
  pattern: text('Regular expression, matched line by line', { minLength: 1 }),
  dir_path: optional(text('Directory or file (default: the working directory)')),
  include_pattern: optional(text('Only files that fit this glob')),
  exclude_pattern: optional(text('No matching lines that fit this regular expression')),
  names_only: optional(flag('List only the files with a match')),
  case_sensitive: optional(flag('Default false')),
  fixed_strings: optional(flag('The pattern is plain text')),
  context: count(0, 'Lines to show around a match'),
  after: count(0, 'Lines to show after a match'),
  before: count(0, 'Lines to show before a match'),
  no_ignore: optional(flag('Also search what ignore files exclude')),
  max_matches_per_file: count(1, 'Matches of one file'),
  total_max_matches: count(1, `Matches in all (default ${DEFAULT_MATCHES})`),
};

type GrepSearchArguments = Arguments<typeof parameters>;

export const grepSearchTool = builtInTool({
  name: 'grep_search',
  description: 'Searches the contents of files with a regular expression; the matches come grouped by file.',
  parameters,
  concurrency: 'shared',
  output: { maxChars: 20_000, mode: 'head' },
  guidance: 'to find where something is defined or used.',
  executor: grepSearch,
});

async function grepSearch(args: GrepSearchArguments, context: ToolContext): Promise<string> {
  const excluded = excludedLines(args);
  const result = await search(context, args.dir_path, {
    pattern: args.pattern,
    caseInsensitive: !args.case_sensitive,
    mode: args.names_only ? 'files_with_matches' : 'content',
    maxResults: args.total_max_matches ?? DEFAULT_MATCHES,
    literal: args.fixed_strings ?? false,
    before: args.before ?? args.context ?? 0,
    after: args.after ?? args.context ?? 0,
    noIgnore: args.no_ignore ?? false,
    ...present({ globFilter: args.include_pattern, maxPerFile: args.max_matches_per_file }),
  });
  const note = skippedNote(result.skipped);
  const answer = report(result, excluded, args);
  return note === '' ? answer : `${answer}\n${note}`;
}

function report(
  { hits: all, more }: SearchResult,
  excluded: (text: string) => boolean,
  args: GrepSearchArguments,
): string {
  const hits = all.filter(({ text, context: around }) => around || text === undefined || !excluded(text));
  const where = `${args.dir_path === undefined ? 'in the working directory' : `in path "${args.dir_path}"`}${
    args.include_pattern === undefined ? '' : ` (filter: "${args.include_pattern}")`
  }`;
  const matches = hits.filter((hit) => !hit.context).length;
  if (matches === 0) return `No matches found for pattern "${args.pattern}" ${where}.`;
  const cut = more ? '\n(there is more; narrow the search or raise total_max_matches)' : '';
  if (args.names_only) {
    const files = hits.map(({ path }) => path).join('\n');
    return `Found ${matches} file${matches === 1 ? '' : 's'} with matches for pattern "${args.pattern}" ${where}:\n${files}${cut}`;
  }
  const noun = matches === 1 ? 'match' : 'matches';
  return `Found ${matches} ${noun} for pattern "${args.pattern}" ${where}:\n---\n${byFile(hits)}${cut}`;
}

function excludedLines({
  exclude_pattern: pattern,
  case_sensitive,
}: GrepSearchArguments): (text: string) => boolean {
  if (pattern === undefined) return () => false;
  try {
    const expression = new RegExp(pattern, case_sensitive ? 'u' : 'iu');
    return (text) => expression.test(text);
  } catch (error) {
    throw new Error(`Invalid exclude_pattern: ${messageOf(error)}`);
  }
}

function byFile(hits: readonly SearchHit[]): string {
  const files = Map.groupBy(hits, ({ path }) => path);
  return [...files].map(([path, lines]) => `File: ${path}\n${lines.map(row).join('\n')}\n---`).join('\n');
}

function row({ line, text = '', context }: SearchHit): string {
  return `L${line}${context ? '-' : ':'} ${cutLine(text)}`;
}
