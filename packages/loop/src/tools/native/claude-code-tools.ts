import { builtInTool } from '../built-in-tool.ts';
import { createEditFileTool } from '../edit-file-tool.ts';
import { findFiles } from '../glob-tool.ts';
import { DEFAULT_LINES } from '../load-file.ts';
import { integer, listOf, objectOf, oneOf, optional, START_DIRECTORY, text } from '../parameters.ts';
import { createPlanTool } from '../plan-tool.ts';
import { readNumbered } from '../read-file-tool.ts';
import type { RegisteredTool } from '../tool.ts';
import { createWriteFileTool } from '../write-file-tool.ts';
import { bashTool, taskStopTool } from './claude-code-bash.ts';
import { claudeCodeGrepTool } from './claude-code-grep.ts';
import { notebookEditTool } from './claude-code-notebook.ts';
import { taskCreateTool, taskGetTool, taskListTool, taskUpdateTool } from './claude-code-tasks.ts';

/** The tools of the released Claude Code, by its names, parameters and output formats, in its alphabetical order. */
export function createClaudeCodeTools(): RegisteredTool[] {
  return [
    bashTool,
    editTool(),
    globTool,
    claudeCodeGrepTool,
    notebookEditTool,
    readTool,
    taskCreateTool,
    taskGetTool,
    taskListTool,
    taskStopTool,
    taskUpdateTool,
    createWriteFileTool({ name: 'Write', filePath }),
  ];
}

const filePath = text('Absolute path of the file');

const readTool = builtInTool({
  name: 'Read',
  description:
    'Reads a file. Text comes with line numbers as cat -n prints them; PNG, JPEG, GIF and WebP files come as images. ' +
    `Without offset and limit it shows the first ${DEFAULT_LINES} lines.`,
  parameters: {
    file_path: filePath,
    offset: optional(integer('Number of the first line to show, from 1', { minimum: 0 })),
    limit: optional(integer(`Lines to show (default ${DEFAULT_LINES})`, { minimum: 1 })),
  },
  concurrency: 'shared',
  output: { maxChars: 50_000, mode: 'head_tail', spill: false },
  guidance: 'read a file before you edit it; of a long file, the part that matters.',
  executor: ({ file_path, offset = 1, limit = DEFAULT_LINES }, context) =>
    readNumbered(context, file_path, {
      offset: Math.max(offset, 1),
      limit,
      render: (number, line) => `${String(number).padStart(6)}\t${line}`,
    }),
});

function editTool(): RegisteredTool {
  const lineNumbers = 'the line numbers that Read shows';
  return createEditFileTool({ name: 'Edit', filePath, lineNumbers, writeTool: 'Write' });
}

const MAX_FILES = 100;

const globTool = builtInTool({
  name: 'Glob',
  description:
    'Finds files whose path fits a glob pattern, the last changed first. Leaves out what .gitignore and .ignore exclude.',
  parameters: {
    pattern: text('For example "**/*.ts"', { minLength: 1 }),
    path: optional(START_DIRECTORY),
  },
  concurrency: 'shared',
  output: { maxChars: 20_000, mode: 'head' },
  guidance: 'to find files by their name.',
  executor: async ({ pattern, path = '.' }, context) => {
    const files = await findFiles(context, { pattern, path });
    if (files.length === 0) return 'No files found';
    const shown = files.slice(0, MAX_FILES);
    if (files.length > MAX_FILES)
      shown.push(`(${files.length} files in all; these are the last changed ${MAX_FILES})`);
    return shown.join('\n');
  },
});

const todo = objectOf({
  content: text('What is to be done, as an order', { minLength: 1 }),
  status: oneOf(['pending', 'in_progress', 'completed']),
  activeForm: text('The same while it is being done'),
});

/** A tool of earlier releases. Not offered, but known when a captured request offers it. */
export const todoWriteTool = createPlanTool({
  name: 'TodoWrite',
  description: 'Replaces the list of what is to be done for the task. At most one entry is in progress.',
  parameters: { todos: listOf(todo) },
  steps: ({ todos }) => todos.map(({ content, status }) => ({ step: content, status })),
  answer: 'The list is updated.',
});
