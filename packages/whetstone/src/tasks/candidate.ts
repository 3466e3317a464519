import type { Draft } from './draft.ts';
import type { Method } from './methods.ts';
import type { HistoryCommit, LeftOut } from './scan-history.ts';

/** What could become a task. */
export type Candidate = {
  /** Names what the task is made of, also in another call: a commit, or a function and what is in it. */
  id: string;
  /** The id of the task. */
  task: string;
  subject: string;
  /** The commit whose message, issues and sessions can be the statement. */
  commit?: HistoryCommit;
};

export type Candidates = {
  method: Method;
  /** The best first: for commits the newest. */
  candidates: Candidate[];
  leftOut: LeftOut[];
  /** Whether the clone is shallow, so that older commits are not there. */
  isShallow: boolean;
  /** A text: why the candidate cannot be a task. */
  draft(candidate: Candidate): Promise<Draft | string>;
};
