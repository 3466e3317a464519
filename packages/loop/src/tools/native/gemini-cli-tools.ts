import type { JsonObject } from '@whetstone/events';
import { resolvePath } from '../../environment/environment-path.ts';
import { builtInTool } from '../built-in-tool.ts';
import { editFile, reportEdit } from '../edit-file-tool.ts';
import { findFiles } from '../glob-tool.ts';
import { listDirectory } from '../list-directory-tool.ts';
import { DEFAULT_LINES, loadLines } from '../load-file.ts';
import {
  type Arguments,
  FILE_PATH,
  flag,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  START_DIRECTORY,
  text,
} from '../parameters.ts';
import { createPlanTool } from '../plan-tool.ts';
import { readManyFiles, readManyParameters } from '../read-many-files-tool.ts';
import type { RegisteredTool, ToolContext, ToolOutput } from '../tool.ts';
import { createWriteFileTool, writeWholeFile } from '../write-file-tool.ts';
import { listBackgroundProcessesTool, readBackgroundOutputTool } from './gemini-cli-background.ts';
import { grepSearchTool } from './gemini-cli-grep.ts';
import { runShellCommandTool } from './gemini-cli-shell.ts';

/** The tools of the released gemini-cli, by its names, parameters and output formats. */
export function createGeminiCliTools(): RegisteredTool[] {
  return [
    listDirectoryTool,
    readFileTool,
    readManyFilesTool,
    grepSearchTool,
    globTool,
    replaceTool,
    createWriteFileTool(),
    runShellCommandTool,
    listBackgroundProcessesTool,
    readBackgroundOutputTool,
    writeTodosTool,
  ].map(withWaitForPrevious);
}

/** Every tool of this family lets the model say whether a call waits for the calls before it. */
function withWaitForPrevious(tool: RegisteredTool): RegisteredTool {
  const { definition } = tool;
  if (definition.type === 'freeform' || definition.type === 'provider') return tool;
  const properties: JsonObject = {
    ...(definition.parameters.properties as JsonObject),
    wait_for_previous: {
      type: 'boolean',
      description: 'Run this call after the calls before it in the response, not beside them (default false)',
    },
  };
  return {
    ...tool,
    definition: { ...definition, parameters: { ...definition.parameters, properties } },
    waitsForEarlier: (input) => /"wait_for_previous"\s*:\s*true/.test(input),
  };
}

const filteringProperties = {
  respect_git_ignore: optional(flag('Default true')),
  respect_gemini_ignore: optional(flag('Default true')),
};
const filtering = objectOf(filteringProperties, { description: 'Which ignore files to respect' });

function ignoreFilesOf({
  respect_git_ignore = true,
  respect_gemini_ignore = true,
}: Arguments<typeof filteringProperties> = {}): string[] {
  return [
    ...(respect_git_ignore ? ['.gitignore', '.ignore'] : []),
    ...(respect_gemini_ignore ? ['.geminiignore'] : []),
  ];
}

const listDirectoryTool = builtInTool({
  name: 'list_directory',
  description: 'Lists the entries of a directory, subdirectories with a slash at the end.',
  parameters: {
    dir_path: text('The directory'),
    ignore: optional(listOf(text(), 'Globs of entries to leave out')),
    file_filtering_options: optional(filtering),
  },
  concurrency: 'shared',
  output: { maxChars: 40_000, mode: 'head' },
  guidance: 'to see what a directory holds.',
  executor: async ({ dir_path: path, ignore: exclude = [], file_filtering_options }, context) => {
    const ignoreFiles = ignoreFilesOf(file_filtering_options);
    const entries = await listDirectory(context, { path, depth: 1, exclude, ignoreFiles });
    return `Directory listing for ${path}:\n${entries}`;
  },
});

/** Of a line; what is cut is gone for this tool. */
const MAX_LINE = 2_000;

const readParameters = {
  file_path: FILE_PATH,
  start_line: optional(integer('Number of the first line, from 1', { minimum: 1 })),
  end_line: optional(integer('Number of the last line', { minimum: 1 })),
};

const readFileTool = builtInTool({
  name: 'read_file',
  description:
    'Reads a file. Text comes as it is, without line numbers; PNG, JPEG, GIF and WebP files come as images. Without ' +
    `start_line and end_line it shows the first ${DEFAULT_LINES} lines.`,
  parameters: readParameters,
  concurrency: 'shared',
  output: { maxChars: 50_000, mode: 'head_tail', spill: false },
  guidance: 'read a file before you change it; of a long file, the part that matters.',
  executor: readRawFile,
});

async function readRawFile(
  args: Arguments<typeof readParameters>,
  { environment }: ToolContext,
): Promise<ToolOutput> {
  const { file_path: path, start_line: first = 1, end_line } = args;
  const limit = Math.min(DEFAULT_LINES, end_line === undefined ? DEFAULT_LINES : end_line - first + 1);
  if (limit < 1) throw new Error(`end_line ${end_line} is before start_line ${first}`);
  const file = await loadLines(environment, path, first, limit);
  if (file.kind === 'image') return { content: [file.image] };
  const { shown, last, total } = file;
  if (total === 0) return '';
  const cut = shown.some((line) => line.length > MAX_LINE);
  const text = shown
    .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}...` : line))
    .join('\n');
  if (!cut && first === 1 && last === total) return text;
  const next = last !== total ? ` Go on with start_line: ${last + 1}.` : '';
  const long = cut ? ` Lines of more than ${MAX_LINE} characters are cut.` : '';
  return `IMPORTANT: this is a part of the file.\nStatus: Showing lines ${first}-${last} of ${total ?? 'more'} total lines.${next}${long}\n\n${text}`;
}

const readManyFilesTool = builtInTool({
  name: 'read_many_files',
  description:
    'Reads several files at once, by path or glob pattern. Each comes after a line "--- path ---".',
  parameters: readManyParameters,
  concurrency: 'shared',
  output: { maxChars: 50_000, mode: 'head', spill: false },
  executor: readManyFiles,
});

const globTool = builtInTool({
  name: 'glob',
  description: 'Finds files whose path fits a glob pattern, the last changed first.',
  parameters: {
    pattern: text('For example "**/*.ts"', { minLength: 1 }),
    dir_path: optional(START_DIRECTORY),
    case_sensitive: optional(flag('Default false')),
    ...filteringProperties,
  },
  concurrency: 'shared',
  output: { maxChars: 20_000, maxLines: 500, mode: 'head' },
  guidance: 'to find files by their name.',
  executor: async ({ pattern, dir_path: path = '.', case_sensitive = false, ...filters }, context) => {
    const query = { pattern, path, caseInsensitive: !case_sensitive, ignoreFiles: ignoreFilesOf(filters) };
    const files = await findFiles(context, query);
    if (files.length === 0) return `No files found matching pattern "${pattern}" within ${path}`;
    return `Found ${files.length} file(s) matching "${pattern}" within ${path}, the last changed first:\n${files.join('\n')}`;
  },
});

const replaceParameters = {
  file_path: FILE_PATH,
  instruction: text('What the change is for, in a sentence'),
  old_string: text('The text to replace'),
  new_string: text('The text to put in its place'),
  allow_multiple: optional(flag('Replace every occurrence (default false)')),
};

const replaceTool = builtInTool({
  name: 'replace',
  description:
    'Replaces a text in a file. old_string has to occur exactly once, unless allow_multiple is set; give it as it ' +
    'stands in the file. An empty old_string creates a new file with new_string.',
  parameters: replaceParameters,
  output: { maxChars: 10_000, mode: 'head_tail' },
  guidance: 'to change an existing file.',
  executor: replace,
});

async function replace(
  args: Arguments<typeof replaceParameters>,
  { environment }: ToolContext,
): Promise<ToolOutput> {
  const { file_path: path, old_string: oldText, new_string: newText, allow_multiple: all = false } = args;
  if (oldText === '') {
    if (await environment.stat(resolvePath(environment, path)))
      throw new Error(
        `old_string is empty, and ${path} exists. Give the text to replace, or use write_file.`,
      );
    return await writeWholeFile(environment, path, newText);
  }
  const edit = { oldText, newText, all, allOption: 'allow_multiple', writeTool: 'write_file' };
  const edited = await editFile(environment, path, edit);
  const report = reportEdit(path, edited);
  return {
    ...report,
    content: `${report.content} The changed lines:\n${changedLines(edited.before, edited.after)}`,
  };
}

const todo = objectOf({
  description: text('What is to be done'),
  status: oneOf(['pending', 'in_progress', 'completed', 'cancelled', 'blocked']),
});

const writeTodosTool = createPlanTool({
  name: 'write_todos',
  description: 'Replaces the list of what is to be done for the task. At most one entry is in progress.',
  parameters: { todos: listOf(todo) },
  steps: ({ todos }) => todos.map(({ description, status }) => ({ step: description, status })),
  answer: 'The list is updated.',
});

const CONTEXT_LINES = 3;

/** One diff from the first to the last change: the texts are known to differ in one place, or in a few alike. */
function changedLines(before: string, after: string): string {
  const old = before.split(/\r?\n/);
  const current = after.split(/\r?\n/);
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start += 1;
  let same = 0;
  while (same < shorter - start && old.at(-1 - same) === current.at(-1 - same)) same += 1;
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
  return [
    ...mark(' ', old.slice(Math.max(0, start - CONTEXT_LINES), start)),
    ...mark('-', old.slice(start, old.length - same)),
    ...mark('+', current.slice(start, current.length - same)),
    ...mark(' ', old.slice(old.length - same, old.length - same + CONTEXT_LINES)),
  ].join('\n');
}
