import type { Attempt, Lab, Trace } from './lab.ts';

/**
 * What was changed of that on which the verdict of a case depends, in one sentence: its hidden tests, and the trees that its
 * workspace and its clean room started from. A change cannot be undone unnoticed, so one look after the grading is enough.
 */
export async function findTampering(
  { task }: Attempt,
  { workplace }: Lab,
  { snapshot }: Trace,
): Promise<string | undefined> {
  const tests =
    task.hiddenTests === undefined ? undefined : await workplace?.hidden.get(task.hiddenTests)?.broken();
  if (tests !== undefined) return `the hidden tests were changed while the run worked: ${tests}`;
  const tree = snapshot && (await workplace?.workspaces.broken(snapshot));
  return tree === undefined ? undefined : `the base tree was changed while the run worked: ${tree}`;
}
