import { readFile, rm, writeFile } from 'node:fs/promises';
import { createMask } from '@whetstone/sandbox';
import { type CaseJudge, type KeptAnswer, openCaseJudge, requestKey } from '../attempt/case-judge.ts';
import { judgeSpending } from '../attempt/judge-spending.ts';
import type { LabJudge } from '../attempt/lab.ts';
import type { Judgement, JudgeRequest } from '../eval/judge/judgement.ts';
import type { UserReply, UserRequest } from '../eval/judge/user-prompt.ts';
import { hashJson } from '../plan/hash-json.ts';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { collectSecrets } from './collect-secrets.ts';

/** The judge of a stored case: a question that was answered there has the same answer, and only others are asked. */
export type StoredJudge = Omit<CaseJudge, 'calls'> & {
  /** What the judge used, then and now. */
  spent(): CaseRow['judge'];
  /** Writes the judgements and the new model calls to the folder of the new case. */
  keep(files: CaseLayout): Promise<void>;
};

export async function openStoredJudge(
  row: CaseRow,
  files: CaseLayout,
  judge: LabJudge | undefined,
): Promise<StoredJudge> {
  const text = await readFile(files.judgements, 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  const kept: KeptAnswer[] = lines.map((line) => JSON.parse(line));
  const stored = new Map(kept.map((one) => [one.key, one]));
  const used: KeptAnswer[] = [];
  const mask = createMask(collectSecrets([], undefined, process.env));
  const fresh = openCaseJudge(
    {
      ...{ planned: { id: row.case_id }, models: () => row.models, mask },
      signal: new AbortController().signal,
      onAnswer: (one) => used.push(one),
    },
    judge,
  );
  return {
    async judge(request) {
      const key = requestKey(request);
      const known = stored.get(key);
      // Nobody knew then, and a judge may know now.
      const isOpen = known && 'judgement' in known && known.judgement.status === 'unavailable';
      if (!known || !('judgement' in known) || (judge && isOpen)) return fresh.judge(request);
      used.push(known);
      return known.judgement;
    },
    async user(request) {
      const known = stored.get(hashJson(request));
      if (!known || !('reply' in known)) return fresh.user(request);
      used.push(known);
      return known.reply;
    },
    judgeLane: fresh.judgeLane,
    spent: () => judgeSpending(fresh.calls, [row]),
    async keep(target) {
      if (used.length === 0) return;
      // The files of the stored case are linked, so its own files must not be written through the links.
      for (const file of [target.judgements, target.judgeCalls]) await rm(file, { force: true });
      await writeFile(target.judgements, jsonLines(used), { mode: 0o600 });
      const ledger = fresh.calls?.ledger ?? [];
      if (ledger.length > 0) await writeFile(target.judgeCalls, jsonLines(ledger), { mode: 0o600 });
    },
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  };
}

const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
