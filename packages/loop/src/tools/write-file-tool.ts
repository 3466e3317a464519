import { resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { replaceFile, withFileLocks } from '../files/file-access.ts';
import { defineTool, type RegisteredTool, type ToolOutput } from './tool.ts';

type WriteFileArguments = { file_path: string; content: string };

/** Writes a whole file (loop spec 3.3). */
export function createWriteFileTool(): RegisteredTool {
  return defineTool<WriteFileArguments>({
    definition: {
      name: 'write_file',
      description: 'Writes a whole file. Creates the file and its folders, or replaces what was there.',
      parameters: {
        type: 'object',
        properties: {
          file_path: { type: 'string', description: 'Absolute, or relative to the working directory' },
          content: { type: 'string', description: 'The whole content of the file' },
        },
        required: ['file_path', 'content'],
      },
    },
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
