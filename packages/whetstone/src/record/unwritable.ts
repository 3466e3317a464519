import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';

/** The error of a file or a folder that a command should write. `what` is its subject, such as "The report". */
export function unwritable(what: string, where: string, cause: unknown, hint?: string): WhetstoneError {
  return new WhetstoneError(
    'output-unwritable',
    `${what} cannot be written (${codeOf(cause) ?? messageOf(cause)}).`,
    { where, cause, ...present({ hint }) },
  );
}

/** Makes the folder that a person has named with `option`. @throws WhetstoneError `output-unwritable` */
export async function makeOutputFolder(folder: string, option: string): Promise<void> {
  try {
    makeEach(resolve(folder));
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw unwritable('The folder', folder, cause, `Give ${option} a folder that you may write to.`);
  }
}

/**
 * Refuses a file that could not be written at the end of a long command. Makes nothing.
 * @throws WhetstoneError `output-unwritable`
 */
export async function requireWritable(file: string, option: string): Promise<void> {
  const hint = `Give ${option} a file in a folder that you may write to.`;
  const isFolder = await stat(file).then(
    (status) => status.isDirectory(),
    () => false,
  );
  if (isFolder) throw unwritable('The file', file, 'it is a folder', hint);
  try {
    const folder = dirname(file);
    if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw unwritable('The file', file, cause, hint);
  }
}
