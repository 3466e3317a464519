import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A file of the tree that a task starts from, where it is not that of the base. `content` is `null` where it is not there. */
export type StartFile = { path: string; content: Buffer | null; executable: boolean };

/** Writes a file below a folder; nothing for one that is not there. */
export async function writeStartFile(
  folder: string,
  { path, content, executable }: StartFile,
): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(content === null ? join(folder, 'x') : file), { recursive: true });
  if (content === null) return;
  await writeFile(file, content);
  if (executable) await chmod(file, 0o755);
}
