import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export type FindProgram = (name: string) => Promise<string | undefined>;

/** Looks a program up in the folders of a PATH, as a shell does. */
export function findOnPath(searchPath = process.env.PATH ?? ''): FindProgram {
  return async (name) => {
    for (const folder of searchPath.split(delimiter)) {
      const file = join(folder === '' ? '.' : folder, name);
      if (await isExecutable(file)) return file;
    }
    return undefined;
  };
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
