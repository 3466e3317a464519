import type { Candidates } from './candidate.ts';
import { subjectOf, taskIdOf } from './draft.ts';
import type { Method } from './methods.ts';
import { removable } from './remove-code.ts';
import { replayDraft } from './replay-draft.ts';
import { revertDraft } from './revert-draft.ts';
import { type ScanOptions, scanHistory } from './scan-history.ts';

/** Looks for candidates in what is on this machine. */
export async function findCandidates(
  method: Method,
  repo: string,
  options: ScanOptions,
): Promise<Candidates> {
  if (method === 'remove') return { method, isShallow: false, ...(await removable(repo, options)) };
  const { candidates, ...history } = await scanHistory(repo, options);
  const before = method === 'revert' ? ['revert'] : [];
  return {
    ...{ method, ...history },
    candidates: candidates.map((commit) => {
      const subject = subjectOf(commit);
      return { id: commit.commit, task: taskIdOf(subject, commit.commit, ...before), subject, commit };
    }),
    draft: async ({ task, commit }) => {
      if (!commit) throw new Error(`no commit for ${task}`);
      return method === 'revert' ? revertDraft(repo, task, commit) : replayDraft(repo, task, commit);
    },
  };
}
