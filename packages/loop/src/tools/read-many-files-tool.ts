import { messageOf } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import picomatch from 'picomatch';
import type { Part } from '../conversation/turn.ts';
import { displayPath, resolvePath } from '../environment/environment-path.ts';
import { builtInTool } from './built-in-tool.ts';
import { findFiles } from './glob-tool.ts';
import { DEFAULT_LINES, loadFile } from './load-file.ts';
import { type Arguments, flag, listOf, optional, type Parameter, text } from './parameters.ts';
import type { ToolContext, ToolOutput } from './tool.ts';

const MAX_FILES = 100;

/** What no one means by "all files"; ignore files need not name it. */
const DEFAULT_EXCLUDES = [
  ...['**/node_modules/**', '**/.git/**', '**/dist/**', '**/build/**', '**/coverage/**', '**/__pycache__/**'],
  ...['**/package-lock.json', '**/yarn.lock', '**/pnpm-lock.yaml', '**/Cargo.lock', '**/*.min.js'],
];

export const readManyParameters = {
  include: globs('Paths or glob patterns, for example ["src/**/*.ts", "README.md"]', { minItems: 1 }),
  exclude: optional(globs('Glob patterns of files to leave out')),
  recursive: optional(flag('Whether a directory stands for all files below it (default true)')),
  useDefaultExcludes: optional(flag('Leave out dependencies, build output and lock files (default true)')),
};

type ReadManyArguments = Arguments<typeof readManyParameters>;

function globs(description: string, keywords?: JsonObject): Parameter<string[]> {
  return listOf(text(undefined, { minLength: 1 }), description, keywords);
}

/** Reads several files in one call (loop spec 3.6). */
export const readManyFilesTool = builtInTool({
  name: 'read_many_files',
  description:
    'Reads several files at once, by path or glob pattern. Each comes after a line "--- path ---", without line ' +
    `numbers. Reads ${MAX_FILES} files at most, and the first ${DEFAULT_LINES} lines of each.`,
  parameters: readManyParameters,
  concurrency: 'shared',
  output: { maxChars: 50_000, mode: 'head', spill: false },
  guidance: 'to read several files that you know you need.',
  executor: readManyFiles,
});

export async function readManyFiles(args: ReadManyArguments, context: ToolContext): Promise<ToolOutput> {
  const { files, named } = await selectFiles(args, context);
  if (files.length === 0) throw new Error(`No files found for ${args.include.join(', ')}.`);
  const shown = files.slice(0, MAX_FILES);
  const parts: Part[] = [];
  const skipped: string[] = [];
  let text = '';
  for (const path of shown) {
    context.signal.throwIfAborted();
    try {
      const file = await loadFile(context.environment, path);
      if (file.kind === 'text') text += `--- ${path} ---\n\n${firstLines(file.lines)}\n\n`;
      // An image costs a lot of the context; a pattern that happens to fit one does not ask for it.
      else if (named.has(path)) parts.push({ type: 'text', text: `--- ${path} ---` }, file.image);
      else skipped.push(`${path} (an image; name it to see it)`);
    } catch (error) {
      skipped.push(`${path} (${messageOf(error)})`);
    }
  }
  if (files.length > MAX_FILES) text += `(${files.length} files fit; the first ${MAX_FILES} are shown)\n`;
  if (skipped.length > 0) text += `Not shown:\n${skipped.map((line) => `- ${line}\n`).join('')}`;
  text = text.trimEnd();
  if (parts.length === 0) return text;
  return { content: text === '' ? parts : [{ type: 'text', text }, ...parts] };
}

function firstLines(lines: readonly string[]): string {
  const shown = lines.slice(0, DEFAULT_LINES);
  if (shown.length < lines.length)
    shown.push(`(the first ${DEFAULT_LINES} of ${lines.length} lines; read the rest with read_file)`);
  return shown.join('\n');
}

/** The files in the order in which they are asked for, each once. `named` are those that are not matches of a pattern. */
async function selectFiles(
  { include, exclude = [], recursive = true, useDefaultExcludes = true }: ReadManyArguments,
  context: ToolContext,
): Promise<{ files: string[]; named: Set<string> }> {
  const { environment } = context;
  const named = new Set<string>();
  const files = new Set<string>();
  const excluded = picomatch([...exclude, ...(useDefaultExcludes ? DEFAULT_EXCLUDES : [])], { dot: true });
  for (const pattern of include) {
    const found = await environment.stat(resolvePath(environment, pattern)).catch(() => undefined);
    if (found?.kind === 'file') {
      const path = displayPath(environment, pattern);
      named.add(path);
      files.add(path);
      continue;
    }
    const query =
      found?.kind === 'directory'
        ? { path: pattern, pattern: recursive ? '**' : '*' }
        : { path: '.', pattern };
    const matches = (await findFiles(context, query)).map((path) => displayPath(environment, path));
    for (const path of matches.toSorted()) if (!excluded(path)) files.add(path);
  }
  return { files: [...files], named };
}
