import { replaceFile } from '../../files/change-files.ts';
import { readFile, statFile, withFileLocks } from '../../files/file-access.ts';
import { decodeTextFile, encodeTextFile } from '../../files/text-file.ts';
import { builtInTool } from '../built-in-tool.ts';
import { type Arguments, oneOf, optional, text } from '../parameters.ts';
import type { ToolContext, ToolOutput } from '../tool.ts';
import { editNotebook } from './edit-notebook.ts';

const parameters = {
  notebook_path: text('Absolute path of the notebook'),
  cell_id: optional(text('The id of the cell, or cell-N for the cell with index N (from 0)')),
  new_source: text('The new source; of no effect on delete'),
  cell_type: optional(
    oneOf(['code', 'markdown'], 'The kind of the cell (default: as it is; needed for insert)'),
  ),
  edit_mode: optional(oneOf(['replace', 'insert', 'delete'], 'Default replace')),
};

export const notebookEditTool = builtInTool({
  name: 'NotebookEdit',
  description:
    'Changes one cell of a Jupyter notebook (.ipynb). replace puts new_source in the place of a cell’s source and ' +
    'drops its outputs; insert adds a cell behind the one named, or in front of all; delete removes one.',
  parameters,
  output: { maxChars: 1_000, mode: 'tail' },
  guidance: 'to change a cell of a notebook.',
  executor: editNotebookFile,
});

async function editNotebookFile(
  args: Arguments<typeof parameters>,
  { environment }: ToolContext,
): Promise<ToolOutput> {
  const { notebook_path: path } = args;
  if (!path.endsWith('.ipynb')) throw new Error(`${path} is not a notebook (.ipynb). Change it with Edit.`);
  return await withFileLocks(environment, [path], async () => {
    await statFile(environment, path);
    const bytes = await readFile(environment, path);
    const file = decodeTextFile(bytes, path);
    const { text, report } = editNotebook(file.text, path, args);
    await replaceFile(environment, path, encodeTextFile({ ...file, text }), bytes);
    return {
      content: `${report} in ${path}.`,
      details: { changes: [{ path, change: 'modified' }] },
    };
  });
}
