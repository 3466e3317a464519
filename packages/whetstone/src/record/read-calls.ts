import { readFileSync } from 'node:fs';
import { parseJson } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import type { CaseLayout } from './layout.ts';
import type { StartedAttempt } from './read-run.ts';

/** The lines of a ledger. A line that a killed program left half, and a file that is missing, count as nothing. */
export function readCalls(file: string): LedgerLine[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((text) => {
      const line = parseJson(text);
      return typeof line === 'object' && line !== null ? [line as unknown as LedgerLine] : [];
    });
  } catch {
    return [];
  }
}

const ledgersOf = ({ modelCalls, judgeCalls }: CaseLayout): LedgerLine[][] =>
  [modelCalls, judgeCalls].map(readCalls);

/** The ids of the last calls of the agent and of the judge, which tell these ledgers from those of another attempt. */
export const lastCalls = (files: CaseLayout): string[] =>
  ledgersOf(files).flatMap((calls) => calls.at(-1)?.id ?? []);

/**
 * The calls of an attempt that was interrupted, none of them where it has not begun: then the ledgers are those of the attempt
 * before, which are counted.
 */
export function interruptedCalls(
  files: CaseLayout,
  { counted_calls: counted = [] }: StartedAttempt,
): { ofAgent: LedgerLine[]; ofJudge: LedgerLine[] } {
  const uncounted = ledgersOf(files).map((calls) => (counted.includes(calls.at(-1)?.id ?? '') ? [] : calls));
  const [ofAgent = [], ofJudge = []] = uncounted;
  return { ofAgent, ofJudge };
}
