import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isJsonObject, parseJson } from '@whetstone/events';

/** The version of the npm package that a program belongs to, read from its package.json; `null` if it is in none. */
export async function versionOfProgram(program: string, name: string): Promise<string | null> {
  const file = await realpath(program).catch(() => program);
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const found = await packageIn(folder);
    if (found?.name === name) return found.version;
  }
  return null;
}

/** The version of a package that a module in `folder` would import; `null` if there is none. Runs none of its code. */
export async function versionOfPackage(name: string, folder: string): Promise<string | null> {
  for (let above = folder; ; above = dirname(above)) {
    const found = await packageIn(join(above, 'node_modules', name));
    if (found) return found.version;
    if (above === dirname(above)) return null;
  }
}

async function packageIn(folder: string): Promise<{ name: string; version: string } | undefined> {
  const content = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '');
  const fields = parseJson(content);
  if (!isJsonObject(fields)) return undefined;
  const { name, version } = fields;
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined;
}
