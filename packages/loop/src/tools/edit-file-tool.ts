import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { replaceFile } from '../files/change-files.ts';
import { readFile, statFile, withFileLocks } from '../files/file-access.ts';
import { BOM, decodeTextFile, encodeTextFile } from '../files/text-file.ts';
import { builtInTool } from './built-in-tool.ts';
import { FILE_PATH, flag, optional, type Parameter, text } from './parameters.ts';
import { replaceText } from './replace-text.ts';
import type { RegisteredTool, ToolOutput } from './tool.ts';

/** How a tool set calls the tool and its neighbours. */
type EditFileNames = {
  name: string;
  filePath: Parameter<string>;
  /** What an old text must not contain, in the words of the tool that shows files. */
  lineNumbers: string;
  writeTool: string;
};

/** Replaces a text in a file (loop spec 3.3, the native editing format of Anthropic's models). */
export function createEditFileTool({
  name = 'edit_file',
  filePath = FILE_PATH,
  lineNumbers = 'line numbers',
  writeTool = 'write_file',
}: Partial<EditFileNames> = {}): RegisteredTool {
  return builtInTool({
    name,
    description:
      'Replaces a text in a file. old_string has to occur exactly once, unless replace_all is set; give it as it ' +
      `stands in the file, with its indentation and without ${lineNumbers}.`,
    parameters: {
      file_path: filePath,
      old_string: text('The text to replace'),
      new_string: text('The text to put in its place; it has to differ'),
      replace_all: optional(flag('Replace every occurrence (default false)')),
    },
    output: { maxChars: 10_000, mode: 'tail' },
    guidance: 'to change an existing file.',
    executor: async (
      { file_path, old_string: oldText, new_string: newText, replace_all: all = false },
      context,
    ) => {
      const edit = { oldText, newText, all, allOption: 'replace_all', writeTool };
      return reportEdit(file_path, await editFile(context.environment, file_path, edit));
    },
  });
}

export type FileEdit = {
  oldText: string;
  newText: string;
  all: boolean;
  /** The tool's name for `all`, and the tool that writes whole files: messages name them. */
  allOption: string;
  writeTool: string;
};

/** Replaces one occurrence of a text in a file, or all of them. Throws, with nothing written, if unclear. */
export async function editFile(
  environment: ExecutionEnvironment,
  path: string,
  { oldText, newText, all, allOption, writeTool }: FileEdit,
) {
  if (oldText === '') throw new Error(`old_string is empty. To create or rewrite a file, use ${writeTool}.`);
  if (oldText === newText)
    throw new Error('old_string and new_string are the same. There is nothing to change.');
  return await withFileLocks(environment, [path], async () => {
    await statFile(environment, path);
    const bytes = await readFile(environment, path);
    const decoded = decodeTextFile(bytes, path);
    // Whoever quotes the byte order mark edits it as a part of the text.
    const isQuoted = decoded.bom && oldText.startsWith(BOM);
    const file = isQuoted ? { text: BOM + decoded.text, bom: false } : decoded;
    const replaced = replaceText(file.text, oldText, newText, all);
    if (replaced.kind === 'missing') {
      const advice = 'Read the file again and give the text exactly as it is there.';
      throw new Error(`old_string was not found in ${path}. ${advice}`);
    }
    if (replaced.kind === 'indentation') throw new Error(indentationError(path, replaced));
    if (replaced.kind === 'ambiguous') {
      const advice = `Include neighbouring lines until it is unique, or set ${allOption}.`;
      throw new Error(`old_string occurs ${replaced.count} times in ${path}. ${advice}`);
    }
    await replaceFile(environment, path, encodeTextFile({ ...file, text: replaced.text }), bytes);
    const { count, level } = replaced;
    return { count, level, before: file.text, after: replaced.text };
  });
}

function indentationError(path: string, { found, firstLine }: { found: string; firstLine: number }): string {
  const lines = found.replace(/\r?\n$/, '');
  const where = lines.includes('\n')
    ? `lines ${firstLine} to ${firstLine + lines.split('\n').length - 1}`
    : `line ${firstLine}`;
  return (
    `old_string occurs in ${path} (${where}) only with another indentation, and the indentation of new_string ` +
    `cannot be translated. Give old_string exactly as below, and new_string with the same tabs and spaces:\n${lines}`
  );
}

type EditedFile = Awaited<ReturnType<typeof editFile>>;

/** What the model and the host read about an edit. */
export function reportEdit(path: string, { count, level }: EditedFile): Exclude<ToolOutput, string> {
  const note = level === 'exact' ? '' : ` The match ignored differences in ${level}.`;
  const occurrences = count === 1 ? '1 occurrence' : `${count} occurrences`;
  return {
    content: `Replaced ${occurrences} in ${path}.${note}`,
    details: { changes: [{ path, change: 'modified' }], replacements: count },
  };
}
