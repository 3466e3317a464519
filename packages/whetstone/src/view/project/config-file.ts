import { createHash, randomBytes } from 'node:crypto';
import { lstat, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { ConfigText } from '../api.ts';

/** The text of a config file, and a revision that changes with it. */
export async function readConfigFile(file: string): Promise<ConfigText> {
  const text = await readFile(file, 'utf8');
  return { path: file, text, revision: revisionOf(text), is_code: /\.[cm]?[jt]s$/.test(file) };
}

/**
 * Replaces the text of a config file in one step, if it is still the one that the editor began with.
 * @throws WhetstoneError `config-changed` if it is not
 */
export async function saveConfigFile(file: string, text: string, revision: string): Promise<ConfigText> {
  const now = await readConfigFile(file);
  if (now.is_code)
    throw new WhetstoneError('config-changed', 'A configuration that is code is not edited here.');
  if (now.revision !== revision) {
    throw new WhetstoneError('config-changed', `${file} was changed by somebody else since it was opened.`);
  }
  const target = await realpath(file); // a link stays a link
  const { mode } = await lstat(target);
  const fresh = join(dirname(target), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(fresh, text, { mode: mode & 0o777 });
    await rename(fresh, target);
  } finally {
    await rm(fresh, { force: true });
  }
  return readConfigFile(file);
}

const revisionOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
