import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { Sandbox, SandboxFile } from '@whetstone/sandbox';

/**
 * Copies the files that a configuration names from the user's home to the same paths in the sandbox's home, for example
 * a login or settings to be measured. No other file of the user reaches an agent. Resolves with the paths, as `~/…`.
 *
 * @throws WhetstoneError `inherit-missing`
 */
export async function inheritFiles(
  sandbox: Sandbox,
  userHome: string,
  paths: readonly string[],
): Promise<string[]> {
  const inherited: string[] = [];
  for (const path of paths) {
    const files = await filesAt(userHome, path).catch((cause: Error) => {
      throw new WhetstoneError('inherit-missing', `~/${path} cannot be inherited: ${cause.message}`, {
        cause,
      });
    });
    await sandbox.uploadFiles(files);
    inherited.push(...files.map((file) => file.path));
  }
  return inherited;
}

/** A file, or all files of a folder. Follows links and keeps permissions, because a key must stay private. */
async function filesAt(home: string, path: string): Promise<SandboxFile[]> {
  const source = join(home, path);
  const found = await stat(source);
  const mode = found.mode & 0o777;
  if (found.isFile()) return [{ path: `~/${path}`, content: await readFile(source), mode }];
  if (!found.isDirectory()) throw new Error('it is neither a file nor a folder');
  const names = await readdir(source);
  const files = await Promise.all(names.map((name) => filesAt(home, join(path, name))));
  return files.flat();
}
