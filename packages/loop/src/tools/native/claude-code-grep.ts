import { present } from '@whetstone/events/present';
import {
  type SearchHit,
  type SearchMode,
  type SearchQuery,
  type SearchResult,
  skippedNote,
} from '../../search/text-search.ts';
import { builtInTool } from '../built-in-tool.ts';
import { cutLine, SEARCH_MODES, search } from '../grep-tool.ts';
import { type Arguments, flag, integer, oneOf, optional, text } from '../parameters.ts';
import type { ToolContext } from '../tool.ts';

const DEFAULT_ENTRIES = 250;
const MOST = 100_000;

const count = (description: string) => optional(integer(description, { minimum: 0 }));

const parameters = {
  pattern: text('Regular expression', { minLength: 1 }),
  path: optional(text('Directory or file (default: the working directory)')),
  glob: optional(text('Only files that fit this glob, for example "*.{ts,tsx}"')),
  output_mode: optional(
    oneOf(SEARCH_MODES, 'Matching lines, the names of files with a match (default), or matches per file'),
  ),
  '-B': count('Lines to show before a match (content)'),
  '-A': count('Lines to show after a match (content)'),
  '-C': count('Lines to show before and after a match (content)'),
  context: count('The same as -C'),
  '-n': optional(flag('Show line numbers (content, default true)')),
  '-i': optional(flag('Ignore case')),
  '-o': optional(flag('Show only the matching part of a line (content)')),
  type: optional(text('Only files of this kind, for example js, py, rust or go')),
  head_limit: count(`Lines or files to show at most (default ${DEFAULT_ENTRIES}, 0: all)`),
  offset: count('Lines or files to skip first (default 0)'),
  multiline: optional(flag('Let the pattern span lines, and . match a line break')),
};

type GrepArguments = Arguments<typeof parameters>;

export const claudeCodeGrepTool = builtInTool({
  name: 'Grep',
  description:
    'Searches the contents of files with a regular expression. Leaves out binary files and what .gitignore and ' +
    '.ignore exclude.',
  parameters,
  concurrency: 'shared',
  output: { maxChars: 20_000, mode: 'head' },
  guidance: 'to find where something is defined or used.',
  executor: grep,
});

async function grep(args: GrepArguments, context: ToolContext): Promise<string> {
  const { offset = 0, head_limit = DEFAULT_ENTRIES, output_mode: mode = 'files_with_matches' } = args;
  const limit = head_limit === 0 ? MOST : head_limit;
  const result = await search(context, args.path, toQuery(args, mode, offset + limit));
  const note = skippedNote(result.skipped);
  const answer = report(result, mode, { offset, limit, numbers: args['-n'] ?? true });
  return note === '' ? answer : `${answer}\n${note}`;
}

type Page = { offset: number; limit: number; numbers: boolean };

function report({ hits, more }: SearchResult, mode: SearchMode, { offset, limit, numbers }: Page): string {
  const rows = mode === 'content' ? contentRows(hits, numbers) : hits.map(entryRow);
  const shown = rows.slice(offset, offset + limit);
  if (shown.length === 0)
    return mode === 'files_with_matches' && offset === 0 ? 'No files found' : 'No matches found';
  if (more || rows.length > offset + limit)
    shown.push(`(there is more; continue with offset=${offset + shown.length})`);
  if (mode === 'content') return shown.join('\n');
  if (mode === 'files_with_matches')
    return `Found ${hits.length} file${hits.length === 1 ? '' : 's'}\n${shown.join('\n')}`;
  const matches = hits.reduce((sum, hit) => sum + (hit.count ?? 0), 0);
  return `${shown.join('\n')}\n\nFound ${matches} matching lines in ${hits.length} files.`;
}

function toQuery(args: GrepArguments, mode: SearchMode, maxResults: number): SearchQuery {
  const around = args['-C'] ?? args.context ?? 0;
  return {
    pattern: args.pattern,
    caseInsensitive: args['-i'] ?? false,
    mode,
    maxResults,
    before: args['-B'] ?? around,
    after: args['-A'] ?? around,
    onlyMatching: args['-o'] ?? false,
    multiline: args.multiline ?? false,
    ...present({ globFilter: args.glob }),
    ...(args.type === undefined ? {} : { fileGlobs: fileTypeGlobs(args.type) }),
  };
}

function entryRow({ path, count: matches }: SearchHit): string {
  return matches === undefined ? path : `${path}:${matches}`;
}

/** `path:line:text`, `-` in place of `:` for context, and `--` where lines are left out between groups. */
function contentRows(hits: readonly SearchHit[], numbers: boolean): string[] {
  const rows: string[] = [];
  const grouped = hits.some((hit) => hit.context);
  let previous: SearchHit | undefined;
  for (const hit of hits) {
    const joins = previous?.path === hit.path && (hit.line ?? 0) - (previous.line ?? 0) <= 1;
    if (grouped && previous && !joins) rows.push('--');
    const separator = hit.context ? '-' : ':';
    const number = numbers ? `${hit.line}${separator}` : '';
    rows.push(`${hit.path}${separator}${number}${cutLine(hit.text ?? '')}`);
    previous = hit;
  }
  return rows;
}

/** The kinds of files that a search may ask for by a short name, as globs on their names. */
const FILE_TYPES: Readonly<Record<string, readonly string[]>> = {
  c: ['*.c', '*.h'],
  cpp: ['*.cpp', '*.cc', '*.cxx', '*.hpp', '*.hh', '*.h', '*.hxx'],
  cs: ['*.cs'],
  css: ['*.css', '*.scss', '*.sass', '*.less'],
  dart: ['*.dart'],
  docker: ['*Dockerfile*', '*.dockerfile'],
  elixir: ['*.ex', '*.exs'],
  go: ['*.go'],
  haskell: ['*.hs', '*.lhs'],
  html: ['*.html', '*.htm'],
  java: ['*.java'],
  js: ['*.js', '*.jsx', '*.mjs', '*.cjs', '*.vue'],
  json: ['*.json'],
  kotlin: ['*.kt', '*.kts'],
  lua: ['*.lua'],
  make: ['*[Mm]akefile*', '*.mk'],
  markdown: ['*.md', '*.markdown', '*.mdx'],
  php: ['*.php'],
  py: ['*.py', '*.pyi'],
  ruby: ['*.rb', 'Gemfile', 'Rakefile', '*.gemspec'],
  rust: ['*.rs'],
  scala: ['*.scala', '*.sbt'],
  sh: ['*.sh', '*.bash', '*.zsh', '.bashrc', '.zshrc'],
  sql: ['*.sql'],
  svelte: ['*.svelte'],
  swift: ['*.swift'],
  toml: ['*.toml'],
  ts: ['*.ts', '*.tsx', '*.mts', '*.cts'],
  txt: ['*.txt'],
  xml: ['*.xml', '*.xsd', '*.xsl', '*.svg'],
  yaml: ['*.yaml', '*.yml'],
  zig: ['*.zig'],
};

const ALIASES: Readonly<Record<string, string>> = {
  javascript: 'js',
  typescript: 'ts',
  python: 'py',
  rs: 'rust',
  md: 'markdown',
  rb: 'ruby',
  csharp: 'cs',
  yml: 'yaml',
  shell: 'sh',
};

/** Throws for a kind that is not in the table. */
function fileTypeGlobs(type: string): readonly string[] {
  const globs = FILE_TYPES[ALIASES[type] ?? type];
  if (!globs)
    throw new Error(`Unknown file type ${type}. Use glob, or one of: ${Object.keys(FILE_TYPES).join(', ')}.`);
  return globs;
}
