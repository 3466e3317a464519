import { readFile, replaceFile, statFile, withFileLocks } from '../../files/file-access.ts';
import { decodeTextFile, encodeTextFile } from '../../files/text-file.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from '../tool.ts';
import { type CellEdit, editNotebook } from './edit-notebook.ts';

type NotebookEditArguments = CellEdit & { notebook_path: string };

export function createNotebookEditTool(): RegisteredTool {
  return defineTool<NotebookEditArguments>({
    definition: {
      name: 'NotebookEdit',
      description:
        'Changes one cell of a Jupyter notebook (.ipynb). replace puts new_source in the place of a cell’s source and ' +
        'drops its outputs; insert adds a cell behind the one named, or in front of all; delete removes one.',
      parameters: {
        type: 'object',
        properties: {
          notebook_path: { type: 'string', description: 'Absolute path of the notebook' },
          cell_id: {
            type: 'string',
            description: 'The id of the cell, or cell-N for the cell with index N (from 0)',
          },
          new_source: { type: 'string', description: 'The new source; of no effect on delete' },
          cell_type: {
            type: 'string',
            enum: ['code', 'markdown'],
            description: 'The kind of the cell (default: as it is; needed for insert)',
          },
          edit_mode: {
            type: 'string',
            enum: ['replace', 'insert', 'delete'],
            description: 'Default replace',
          },
        },
        required: ['notebook_path', 'new_source'],
      },
    },
    output: { maxChars: 1_000, mode: 'tail' },
    guidance: 'to change a cell of a notebook.',
    executor: editNotebookFile,
  });
}

async function editNotebookFile(
  args: NotebookEditArguments,
  { environment }: ToolContext,
): Promise<ToolOutput> {
  const { notebook_path: path } = args;
  if (!path.endsWith('.ipynb')) throw new Error(`${path} is not a notebook (.ipynb). Change it with Edit.`);
  return await withFileLocks(environment, [path], async () => {
    await statFile(environment, path);
    const file = decodeTextFile(await readFile(environment, path), path);
    const { text, report } = editNotebook(file.text, path, args);
    await replaceFile(environment, path, encodeTextFile({ ...file, text }));
    return {
      content: `${report} in ${path}.`,
      details: { changes: [{ path, change: 'modified' }] },
    };
  });
}
