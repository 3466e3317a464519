import { WhetstoneError } from '@whetstone/errors';
import { GitError } from './git.ts';

/** Whether git failed because the repository does not hold an object. */
export function isMissingObject(error: unknown): error is GitError {
  return (
    error instanceof GitError &&
    /unable to read|could not read|could not fetch|missing|bad object|not a tree object|not a valid object|invalid object/i.test(
      error.stderr,
    )
  );
}

/** `what`: the part of the repository that is not whole, such as `part of commit 1a2b3c`. */
export const missingObjects = (what: string, cause?: unknown): WhetstoneError =>
  new WhetstoneError('repo-objects-missing', `The repository does not contain ${what}.`, {
    // Without `--no-filter`, git fetches again what the filter of a partial clone lets through.
    hint: 'The clone is partial or damaged: fetch what is missing (git fetch --refetch --no-filter), or use a full clone.',
    cause,
  });

/** As for a run that is resumed after its commit was rewritten and collected. */
export const missingCommit = (commit: string, cause: unknown): WhetstoneError =>
  new WhetstoneError('repo-objects-missing', `The repository does not contain commit ${commit}.`, {
    hint: 'Its history may have been rewritten since: fetch the commit from a clone that has it, or start a new run.',
    cause,
  });
