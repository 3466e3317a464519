import { z } from 'zod';
import { compareRuns } from '../report/compare-runs.ts';
import type { PairComparison } from '../report/run-comparison.ts';
import type { Comparison } from '../report/summary.ts';
import type { ReportedRun } from '../run/write-report.ts';

/** `ci.json` beside the runs: what a job measured, for the step that publishes it. */
export const jobSchema = z.object({
  schema_version: z.literal('1'),
  runs: z.array(
    z.object({
      run_id: z.string(),
      /** What was compared: what agents read, agents, or the variants of the configuration. */
      kind: z.enum(['context', 'agents', 'config']),
      /** Paths or agents that differ. */
      what: z.array(z.string()),
      /** Of kind `agents`: which agent is compared with which. */
      pairs: z.array(z.object({ before: z.string(), after: z.string() })),
    }),
  ),
  /** Why nothing was measured; `null`: something was. */
  not_run: z.string().nullable(),
});

export type Job = z.infer<typeof jobSchema>;
export type JobRun = Job['runs'][number];

/** One comparison of a job. */
export type Measured = {
  /** What the comparison is about, such as `loop` or `loop: baseline → strict`. */
  agent: string;
  before: string;
  after: string;
  comparison: Comparison;
  flips: PairComparison['flips'];
};

/** The comparisons of a run: its variants with the baseline of the same agent, or agents with their earlier selves. */
export function measuredOf(run: ReportedRun, job: JobRun): Measured[] {
  const { manifest, ordered: rows, summary } = run;
  const side = (label: string, arm: object) => ({ label, manifest, rows, ...arm });
  if (job.kind === 'agents') {
    return job.pairs.flatMap(({ before, after }) =>
      compareRuns(side(before, { agent: before }), side(after, { agent: after })).pairs.map(
        ({ comparison, flips }) => ({ agent: after, before, after, comparison, flips }),
      ),
    );
  }
  return summary.comparisons.map((comparison) => {
    const { agent, variant, baseline } = comparison;
    const of = (name: string) => side(name, comparison.pooled ? { variant: name } : { agent, variant: name });
    const flips = comparison.pooled
      ? []
      : compareRuns(of(baseline), of(variant)).pairs.flatMap((pair) => pair.flips);
    return { agent, before: baseline, after: variant, comparison, flips };
  });
}
