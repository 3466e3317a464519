import type { StoredAudit, TaskAudit } from '../record/audits.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Interval } from '../stats/interval.ts';
import { wilson } from '../stats/wilson-interval.ts';

/** A share with its 95 % interval (Wilson). `rate`: `null`, like the interval, where nothing was played. */
export type Share = { count: number; of: number; rate: number | null; interval: Interval | null };

/** What the audits of a suite say together. */
export type SuiteSummary = {
  tasks: number;
  /** Mean over the tasks, from 0 to 100; `null`: unknown for each of them. */
  integrity: number | null;
  /** Wrong solutions that pass: mutants. */
  false_pass: Share;
  /** Right solutions that fail: refactors. */
  false_fail: Share;
  cheats: Share;
  findings: number;
};

type Tally = { passed: number; runs: number };

export function summarizeAudits(audits: readonly TaskAudit[]): SuiteSummary {
  const known = audits.flatMap(({ integrity }) => integrity ?? []);
  const passed = (read: (audit: TaskAudit) => Tally | null): Share => {
    const all = audits.flatMap((audit) => read(audit) ?? []);
    return shareOf(
      all.reduce((sum, tally) => sum + tally.passed, 0),
      all.reduce((sum, tally) => sum + tally.runs, 0),
    );
  };
  const accepted = passed(({ refactors }) => refactors);
  return {
    tasks: audits.length,
    integrity:
      known.length === 0 ? null : Math.round((known.reduce((a, b) => a + b, 0) / known.length) * 10) / 10,
    false_pass: passed(({ mutants }) => mutants),
    false_fail: shareOf(accepted.of - accepted.count, accepted.of),
    cheats: passed(({ cheats }) => cheats),
    findings: audits.reduce((sum, { findings }) => sum + findings.length, 0),
  };
}

function shareOf(count: number, of: number): Share {
  return of === 0
    ? { count, of, rate: null, interval: null }
    : { count, of, rate: count / of, interval: wilson(count, of) };
}

/** What audits found about the tasks of a run, as these were in it; `undefined`: none of them was audited. */
export function auditOfRun(
  { tasks }: Pick<Manifest, 'tasks'>,
  audits: readonly StoredAudit[],
): SuiteSummary | undefined {
  const found = tasks.flatMap(({ fingerprint, commit }) => {
    const same = audits.filter((audit) => audit.fingerprint === fingerprint && audit.commit === commit);
    return same.toSorted((a, b) => (a.audited_at < b.audited_at ? 1 : -1))[0] ?? [];
  });
  return found.length === 0 ? undefined : summarizeAudits(found);
}
