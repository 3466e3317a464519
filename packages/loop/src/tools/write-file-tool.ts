import { resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { replaceFile } from '../files/change-files.ts';
import { withFileLocks } from '../files/file-access.ts';
import { builtInTool } from './built-in-tool.ts';
import { FILE_PATH, text } from './parameters.ts';
import type { RegisteredTool, ToolOutput } from './tool.ts';

/** Writes a whole file (loop spec 3.3). */
export function createWriteFileTool({ name = 'write_file', filePath = FILE_PATH } = {}): RegisteredTool {
  return builtInTool({
    name,
    description: 'Writes a whole file. Creates the file and its folders, or replaces what was there.',
    parameters: { file_path: filePath, content: text('The whole content of the file') },
    output: { maxChars: 1_000, mode: 'tail' },
    guidance: 'for new files and complete rewrites.',
    executor: ({ file_path, content }, { environment }) => writeWholeFile(environment, file_path, content),
  });
}

/** Creates a file with its folders, or replaces what was there. */
export async function writeWholeFile(
  environment: ExecutionEnvironment,
  path: string,
  content: string,
): Promise<ToolOutput> {
  const bytes = new TextEncoder().encode(content);
  return await withFileLocks(environment, [path], async () => {
    const existed = (await environment.stat(resolvePath(environment, path))) !== undefined;
    await replaceFile(environment, path, bytes);
    return {
      content: `Wrote ${bytes.length} bytes to ${path} (${existed ? 'replaced' : 'new file'}).`,
      details: { changes: [{ path, change: existed ? 'modified' : 'added' }] },
    };
  });
}
