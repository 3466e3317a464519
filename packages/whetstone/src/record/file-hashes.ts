import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { codeOf } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { caseLayout, runLayout } from './layout.ts';
import { isLocked } from './lock-file.ts';
import type { ReadRun } from './read-run.ts';
import { type CaseRow, keptRowSchema } from './row.ts';

/** The evidence of a case, which nothing changes any more once its row is written. */
const EVIDENCE = [
  ...(['prompt', 'events', 'agent', 'patch', 'modelCalls', 'exchanges'] as const),
  ...(['judgeCalls', 'judgements'] as const),
];

/** sha256 of the files of a case with its evidence, by name; those that there are. */
export function evidenceHashes(directory: string): Record<string, string> {
  const layout = caseLayout(directory);
  return Object.fromEntries(
    EVIDENCE.flatMap((name) => {
      const sha256 = hashOf(layout[name]);
      return sha256 === undefined ? [] : [[basename(layout[name]), sha256]];
    }),
  );
}

/** What of the evidence of the cases of a run does not fit their rows, in sentences. Rows of older versions have no hashes. */
export function evidenceProblems(run: ReadRun, only?: string): string[] {
  const { directory, rows } = run;
  const problems = only === undefined ? resultsWithoutRow(run) : [];
  for (const [id, { evidence_sha256 }] of rows) {
    if (evidence_sha256 === undefined || (only !== undefined && id !== only)) continue;
    const folder = runLayout(directory).case(id);
    if (saysOtherwise(caseLayout(folder).result, rows.get(id)))
      problems.push(`cases/${id}/result.json does not say what the journal says.`);
    const now = evidenceHashes(folder);
    for (const name of new Set([...Object.keys(evidence_sha256), ...Object.keys(now)])) {
      if (now[name] === evidence_sha256[name]) continue;
      const how = now[name] === undefined ? 'is missing' : 'is not as it was when the case had finished';
      problems.push(`cases/${id}/${name} ${how}.`);
    }
  }
  return problems;
}

/**
 * The chain does not show that the last lines of a journal were taken away. The copies of their rows do. The lines of `unread`
 * are named by themselves. While a run works, its cases end after its journal was read.
 */
function resultsWithoutRow({ directory, manifest, rows, unread }: ReadRun): string[] {
  if (isLocked(runLayout(directory).lock)) return [];
  const named = new Set(unread.map(({ caseId }) => caseId));
  return manifest.case_matrix
    .map(({ case_id }) => case_id)
    .filter((id) => !rows.has(id) && !named.has(id))
    .filter((id) => existsSync(caseLayout(runLayout(directory).case(id)).result))
    .map((id) => `cases/${id}/result.json has no row in journal.jsonl.`);
}

/** Whether the copy of a row differs from the row. `false` where the copy is missing or of another version. */
function saysOtherwise(file: string, row: CaseRow | undefined): boolean {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const copy = keptRowSchema.safeParse(parseJson(text));
  return text !== '' && copy.success && !isDeepStrictEqual(copy.data, row);
}

function hashOf(file: string): string | undefined {
  // Most cases have half of the files, and an exception takes longer than a look.
  if (!existsSync(file)) return undefined;
  try {
    return hash('sha256', readFileSync(file));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
