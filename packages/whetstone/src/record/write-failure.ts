import { codeOf, WhetstoneError } from '@whetstone/errors';

/**
 * Runs `write` and names the folder in errors of the file system: `disk-full`, `output-unwritable` while a run
 * directory is made, `record-lost` when it can no longer be written. Other errors pass through.
 */
export async function namingUnwritable<T>(
  directory: string,
  stage: 'making' | 'writing',
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const code = codeOf(error);
    const isOfSystem = error instanceof Error && 'syscall' in error && !(error instanceof WhetstoneError);
    throw isOfSystem && code !== undefined ? explain(directory, stage, code, error) : error;
  }
}

function explain(directory: string, stage: 'making' | 'writing', code: string, cause: Error): WhetstoneError {
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new WhetstoneError('disk-full', 'No space is left for the results.', {
      where: directory,
      hint:
        stage === 'making'
          ? 'Free some space, or set output_dir to a folder on another disk.'
          : 'Finished cases are kept. Free some space, then resume the run with --resume.',
      cause,
    });
  }
  if (stage === 'making') {
    return new WhetstoneError('output-unwritable', `The output folder cannot be written (${code}).`, {
      where: directory,
      hint: 'Set output_dir in the configuration to a folder that you may write to.',
      cause,
    });
  }
  return new WhetstoneError('record-lost', `The run directory can no longer be written (${code}).`, {
    where: directory,
    hint: 'Finished cases are kept in the journal. Repair the folder, then resume the run with --resume.',
    cause,
  });
}
