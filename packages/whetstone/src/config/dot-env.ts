import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigErrors } from './diagnostic.ts';
import { readSourceText, unplaced } from './source-text.ts';

/**
 * The environment with the variables of the `.env` in a folder. Those that are set already win. No agent gets them by
 * itself: a sandbox passes only variables that the config names.
 * @throws ConfigErrors when the file is there and cannot be read.
 */
export async function withDotEnv(folder: string, environment: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const file = join(folder, '.env');
  // Some projects keep their Python environment in a folder of this name.
  if (!(await stat(file).catch(() => undefined))?.isFile()) return environment;
  const read = await readSourceText(file);
  if (read.kind === 'unreadable') {
    throw new ConfigErrors([
      unplaced(file, { path: '', severity: 'error', message: `this file ${read.reason}` }),
    ]);
  }
  return { ...parseEnv(read.source.text), ...environment };
}
