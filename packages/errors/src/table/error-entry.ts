/**
 * Who has to act.
 *
 * - `usage`: the command line, the configuration or the calling program asks for something that cannot be done.
 * - `task`: a task or a variant is wrong: its setup fails, or a file that it names is missing.
 * - `sandbox`: a command could not be run, or a file of a sandbox could not be read or written.
 * - `model`: the model did not answer as it should, or its provider refused.
 * - `harness`: Whetstone itself could not do its work.
 */
export type ErrorClass = 'usage' | 'task' | 'sandbox' | 'model' | 'harness';

/** What is documented about an error code. */
export type ErrorEntry = {
  class: ErrorClass;
  /** One sentence. */
  meaning: string;
  /** What to do about it in general. The command line prints it where an error has no hint of its own. */
  fix: string;
};

const entryOf =
  (errorClass: ErrorClass) =>
  (meaning: string, fix: string): ErrorEntry => ({ class: errorClass, meaning, fix });

export const usage = entryOf('usage');
export const task = entryOf('task');
export const sandbox = entryOf('sandbox');
export const model = entryOf('model');
export const harness = entryOf('harness');
