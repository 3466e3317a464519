import { existsSync, readFileSync } from 'node:fs';
import type { Mask } from '@whetstone/sandbox';
import { type CaseJudge, type KeptAnswer, openCaseJudge, questionKeys } from '../attempt/case-judge.ts';
import { judgeSpending } from '../attempt/judge-spending.ts';
import type { LabJudge } from '../attempt/lab.ts';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import type { OwnFiles } from '../record/run-record.ts';

/** The judge of a stored case: a question that was answered there has the same answer, and only others are asked. */
export type StoredJudge = Omit<CaseJudge, 'calls'> & {
  /** What the judge used, then and now. */
  spent(): CaseRow['judge'];
  /** The files of the new case with its judgements and the new model calls. */
  kept(): OwnFiles;
};

export async function openStoredJudge(
  row: CaseRow,
  files: CaseLayout,
  { judge, mask }: { judge: LabJudge | undefined; mask: Mask },
): Promise<StoredJudge> {
  const text = existsSync(files.judgements) ? readFileSync(files.judgements, 'utf8') : '';
  const lines = text.split('\n').filter((line) => line !== '');
  const kept: KeptAnswer[] = lines.map((line) => JSON.parse(line));
  const stored = new Map(kept.map((one) => [one.key, one]));
  const used: KeptAnswer[] = [];
  const keys = questionKeys();
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
      const key = keys.judge(request);
      const known = stored.get(key);
      // Nobody knew then, and a judge may know now.
      const isOpen = known && 'judgement' in known && known.judgement.status === 'unavailable';
      if (!known || !('judgement' in known) || (judge && isOpen)) return fresh.judge(request, key);
      used.push(known);
      return known.judgement;
    },
    async user(request) {
      const key = keys.user(request);
      const known = stored.get(key);
      if (!known || !('reply' in known)) return fresh.user(request, key);
      used.push(known);
      return known.reply;
    },
    judgeLane: fresh.judgeLane,
    spent: () => judgeSpending(fresh.calls, [row]),
    kept() {
      if (used.length === 0) return {};
      const ledger = fresh.calls?.ledger ?? [];
      return { judgements: jsonLines(used), judgeCalls: ledger.length > 0 ? jsonLines(ledger) : null };
    },
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  };
}

const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
