import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { evidenceProblems } from '../record/file-hashes.ts';
import { runLayout } from '../record/layout.ts';
import { type ReadRun, readRun, rowsInOrder, unreadText } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { escapedJson } from '../report/json.ts';
import { renderCase, renderRun } from '../report/render-case.ts';
import { summarize } from '../report/summarize.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

/** Prints a run, one case of it, or one model call of that. Writes nothing. */
export async function showCommand(
  reference: string,
  caseId: string | undefined,
  options: { json?: boolean; call?: string; config?: string },
  { stdout, stderr }: Streams,
): Promise<number> {
  const run = await readRun(await locateRun(reference, options.config));
  const view = { colors: terminalColors(stdout), width: terminalWidth(stdout) };
  if (caseId !== undefined) {
    const row = findCase(run, caseId);
    warnOf(evidenceProblems(run, row.case_id), run.directory, stderr);
    const directory = runLayout(run.directory).case(row.case_id);
    if (options.call !== undefined) {
      const { showCall } = await import('./show-call.ts');
      const asked = { wanted: options.call, json: options.json === true, view };
      stdout.write(await showCall(row, directory, asked));
      return 0;
    }
    stdout.write(options.json ? escapedJson(row) : `${renderCase(row, directory, view)}\n`);
    return 0;
  }
  if (options.call !== undefined) {
    throw new WhetstoneError('case-not-found', '--call needs a case.', {
      hint: 'whetstone show RUN CASE --call 1',
    });
  }
  warnOf(evidenceProblems(run), run.directory, stderr);
  const rows = rowsInOrder(run);
  const summary = summarize(run.manifest, rows, run.audits);
  stdout.write(
    options.json
      ? escapedJson(summary)
      : `${renderRun(summary, rows, { ...view, directory: run.directory })}\n\n${run.directory}\n`,
  );
  return 0;
}

function warnOf(problems: readonly string[], directory: string, stderr: NodeJS.WritableStream): void {
  for (const problem of problems) stderr.write(`warning  ${directory}: ${problem}\n`);
}

function findCase(run: ReadRun, reference: string): CaseRow {
  const planned = run.manifest.case_matrix.map(({ case_id: id }) => id);
  const matches = planned.includes(reference)
    ? [reference]
    : planned.filter((id) => id.startsWith(reference));
  const [id] = matches;
  const row = id === undefined ? undefined : run.rows.get(id);
  if (matches.length === 1 && row) return row;
  const unread = run.unread.find(({ caseId }) => caseId === id && id !== undefined);
  const problem =
    matches.length > 1
      ? `${reference} is the beginning of ${matches.length} case ids.`
      : id === undefined
        ? `This run has no case ${reference}.`
        : unread
          ? `The row of case ${id} cannot be read: ${unreadText(unread)}`
          : `Case ${id} has not finished.`;
  const meant = matches.length === 0 ? didYouMean(reference, planned) : undefined;
  throw new WhetstoneError('case-not-found', problem, {
    where: run.directory,
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}Cases: ${(matches.length > 1 ? matches : planned).slice(0, 8).join(', ')}${planned.length > 8 ? ', …' : ''}`,
  });
}
