import { existsSync, readFileSync } from 'node:fs';
import { parseJson } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import type { CaseLayout } from './layout.ts';

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

/** The agent's calls of an attempt that has no result, because the run was interrupted. */
export const interruptedCalls = (files: CaseLayout): LedgerLine[] =>
  existsSync(files.result) ? [] : readCalls(files.modelCalls);
