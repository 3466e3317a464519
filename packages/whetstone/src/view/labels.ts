import { messageOf, WhetstoneError } from '@whetstone/errors';
import { z } from 'zod';
import { labelAgreement } from '../eval/agreement/label-agreement.ts';
import { readLabels, writeLabel } from '../record/labels.ts';
import type { StoredRun } from '../record/read-run.ts';
import { judgeVerdicts } from '../report/judge-verdicts.ts';
import type { RunLabels } from './api.ts';

const bodySchema = z.strictObject({
  human: z.enum(['passed', 'failed']).nullable(),
  note: z.string().max(10_000).default(''),
});

/** What people said about the cases of a run, and how far its judge agrees. */
export async function runLabels({ directory, rows }: StoredRun): Promise<RunLabels> {
  const labels = await readLabels(directory);
  if (labels.length === 0) return { labels, agreement: null, problem: null };
  try {
    const judged = judgeVerdicts(rows.values());
    if (Object.keys(judged).length === 0)
      return { labels, agreement: null, problem: 'No judge judged this run.' };
    const lines = labels.map((label) => JSON.stringify(label)).join('\n');
    return { labels, agreement: labelAgreement(lines, { judged }), problem: null };
  } catch (error) {
    if (error instanceof WhetstoneError) return { labels, agreement: null, problem: messageOf(error) };
    throw error;
  }
}

/** @throws ZodError for a body of another form */
export async function labelCase(run: StoredRun, caseId: string, body: unknown): Promise<RunLabels> {
  const { human, note } = bodySchema.parse(body);
  const label =
    human === null ? undefined : { human, at: new Date().toISOString(), ...(note === '' ? {} : { note }) };
  await writeLabel(run.directory, caseId, label);
  return runLabels(run);
}
