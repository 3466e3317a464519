import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { failedCommand } from '../report/evidence-files.ts';
import { type JunitRun, renderJunit } from '../report/junit.ts';
import type { ReportedRun } from '../run/write-report.ts';

/** JUnit XML of runs, with the ends of the logs of what failed. */
export async function junitOf(runs: readonly ReportedRun[]): Promise<string> {
  return renderJunit(await Promise.all(runs.map(toJunitRun)));
}

async function toJunitRun({ directory, summary, manifest, ordered }: ReportedRun): Promise<JunitRun> {
  const tails = new Map<string, string>();
  for (const row of ordered) tails.set(row.case_id, await failureLog(directory, row));
  return { summary, manifest, rows: ordered, logTail: (row) => tails.get(row.case_id) ?? '' };
}

const TAIL_BYTES = 4096;

async function failureLog(directory: string, row: CaseRow): Promise<string> {
  const failed = failedCommand(row);
  if (!failed) return '';
  const base = runLayout(directory).case(row.case_id);
  const tails = [];
  for (const path of [failed.stdout_path, failed.stderr_path]) tails.push(await tail(join(base, path)));
  return tails.filter((text) => text !== '').join('\n');
}

async function tail(file: string): Promise<string> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8');
  } catch {
    return '';
  }
}
