import { existsSync, readFileSync } from 'node:fs';
import type { Mask } from '@whetstone/sandbox';
import { type CaseJudge, type KeptAnswer, openCaseJudge, questionKeys } from '../attempt/case-judge.ts';
import { judgeSpending } from '../attempt/judge-spending.ts';
import type { Judgement, JudgeRequest } from '../eval/judge/judgement.ts';
import { materialOf } from '../eval/judge/material.ts';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import type { OwnFiles } from '../record/run-record.ts';
import type { LaterJudge } from './open-judge-gateway.ts';

/** The judge of a stored case: a question that was answered there has the same answer, and only others are asked. */
export type StoredJudge = Omit<CaseJudge, 'calls'> & {
  /** How many answers are those of an agent that is not the configured judge. */
  readonly ofAnotherJudge: number;
  /** What the judge used, then and now. */
  spent(): CaseRow['judge'];
  /** The files of the new case with its judgements and the new model calls. */
  kept(): OwnFiles;
};

export async function openStoredJudge(
  row: CaseRow,
  files: CaseLayout,
  {
    judge,
    mask,
    anew = false,
  }: {
    judge: LaterJudge | undefined;
    mask: Mask;
    /** The configured judge answers again what it has answered, so that its answers can be compared. */
    anew?: boolean;
  },
): Promise<StoredJudge> {
  const text = existsSync(files.judgements) ? readFileSync(files.judgements, 'utf8') : '';
  const lines = text.split('\n').filter((line) => line !== '');
  const kept: KeptAnswer[] = lines.map((line) => JSON.parse(line));
  const stored = new Map(kept.map((one) => [one.key, one]));
  const used: KeptAnswer[] = [];
  const keys = questionKeys();
  let fresh: CaseJudge | undefined;
  const open = async (): Promise<CaseJudge> =>
    openCaseJudge(
      {
        ...{ planned: { id: row.case_id }, models: () => row.models, mask },
        signal: new AbortController().signal,
        onAnswer: (one) => used.push(one),
        withoutJudge: NO_JUDGE,
      },
      await judge?.open(),
    );
  let opening: Promise<CaseJudge> | undefined;
  const ask = async (): Promise<CaseJudge> => {
    opening ??= open();
    fresh = await opening;
    return fresh;
  };
  let ofAnotherJudge = 0;
  /** Whether the configured judge has to answer in place of the stored one. */
  const isOver = (known: KeptAnswer & { judgement: Judgement }, { by }: JudgeRequest): boolean => {
    if (!judge) return false;
    // Nobody knew then, and a judge may know now.
    if (known.judgement.status === 'unavailable') return true;
    const isSame = known.judge === undefined || known.judge === judge.fingerprint;
    if (isSame && !anew) return false;
    const canAsk = (by ?? (judge.config.model === undefined ? 'agent' : 'model')) === 'model';
    if (!canAsk && !isSame) ofAnotherJudge += 1;
    return canAsk;
  };
  return {
    get ofAnotherJudge() {
      return ofAnotherJudge;
    },
    async judge(request) {
      const key = keys.judge(request, materialOf(request.material));
      const known = stored.get(key);
      if (!known || !('judgement' in known) || isOver(known, request))
        return (await ask()).judge(request, key);
      used.push(known);
      return known.judgement;
    },
    // What a simulated user said belongs to the stored turns, whoever played it.
    async user(request) {
      const key = keys.user(request);
      const known = stored.get(key);
      if (!known || !('reply' in known)) return (await ask()).user(request, key);
      used.push(known);
      return known.reply;
    },
    judgeLane: async () => (await ask()).judgeLane(),
    spent: () => judgeSpending(fresh?.calls ?? [], row),
    kept() {
      if (used.length === 0) return {};
      const ledger = fresh?.calls.flatMap((one) => one.ledger) ?? [];
      return { judgements: jsonLines(used), judgeCalls: ledger.length > 0 ? jsonLines(ledger) : null };
    },
    async [Symbol.asyncDispose]() {
      await fresh?.[Symbol.asyncDispose]();
    },
  };
}

const NO_JUDGE =
  'no stored answer fits this question, and the configuration has no `judge` (`rescore` does not use that of an experiment)';

const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
