import type { Plan } from '../plan/plan.ts';
import { casesToRun } from './plan-or-resume.ts';
import { type CaseLab, runCase } from './run-case.ts';
import type { RunEvent } from './run-event.ts';

/** Runs the cases without a result, `jobs` at a time. Resolves with the number of cases that an abort left unrun. */
export async function runCases(
  lab: CaseLab,
  plan: Plan,
  { jobs, signal, onEvent }: { jobs: number; signal: AbortSignal; onEvent: (event: RunEvent) => void },
): Promise<number> {
  const { record } = lab;
  const waiting = casesToRun(plan, record.rows);
  onEvent({
    type: 'started',
    manifest: record.manifest,
    directory: record.directory,
    done: plan.cases.length - waiting.length,
    total: plan.cases.length,
  });

  const queue = waiting.values();
  let unfinished = waiting.length;
  const recordFailure = new AbortController();
  const stop = AbortSignal.any([signal, recordFailure.signal]);
  const work = async () => {
    for (const planned of queue) {
      if (stop.aborted) return;
      onEvent({ type: 'case.started', planned });
      const row = await runCase(planned, lab, {
        signal: stop,
        onProgress: (progress) => onEvent({ type: 'case.progressed', planned, ...progress }),
        onRetry: (evidence) => onEvent({ type: 'case.retried', planned, evidence }),
      });
      if (!row) continue;
      unfinished -= 1;
      onEvent({ type: 'case.finished', planned, row });
    }
  };
  const workers = Array.from({ length: Math.min(jobs, waiting.length) }, () =>
    work().catch((error: unknown) => {
      recordFailure.abort(); // the rows of the other cases could not be written either
      throw error;
    }),
  );
  const settled = await Promise.allSettled(workers);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return unfinished;
}
