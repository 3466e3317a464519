import { expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { type Planned, sampleManifest, sampleRow } from './__fixtures__/sample-run.ts';
import { summarize } from './summarize.ts';
import type { Summary } from './summary.ts';

const tasks = Array.from({ length: 6 }, (_, i) => `task-${i + 1}`);

type Assertion = NonNullable<CaseRow['assertions']>[number];

/** Graded for `points` of 10. */
const graded = (planned: Planned, points: number, overrides: Partial<CaseRow> = {}): CaseRow =>
  sampleRow(planned, 'failed', { score: points, max_score: 10, ...overrides });

const armsOf = ({ arms: [baseline, variant] }: Summary) => [
  baseline ?? expect.fail(),
  variant ?? expect.fail(),
];

test('a declared score decides the comparison, and the pass rate then only describes', () => {
  const manifest = sampleManifest({ tasks, trials: 2 }, { metric: 'score' });
  const rows = manifest.case_matrix.map((planned) =>
    graded(planned, planned.variant === 'baseline' ? 2.5 : 7.5),
  );
  const summary = summarize(manifest, rows);
  expect(summary.metric).toEqual({ kind: 'score', title: 'score', unit: 'pp' });
  expect(summary.comparisons).toMatchObject([{ verdict: 'better', these_tasks_p_value: null }]);
  expect(summary.comparisons[0]?.difference).toBe(0.5);
  expect(summary.comparisons[0]?.sentence).toMatch(/^better: score \+50 pp for tasks like these, /);
  expect(armsOf(summary)[0]).toMatchObject({ pass_rate: 0, score: { missing: 0, bounds: [0.25, 0.25] } });
  // Without the declaration the same rows have no difference to test.
  const undeclared = summarize({ ...manifest, metric: undefined }, rows);
  expect(undeclared.comparisons).toMatchObject([{ verdict: 'inconclusive', difference: 0 }]);
  expect(armsOf(undeclared)[0]?.score?.value).toBe(0.25);
});

test('a score that is not known is missing, and never a 0 or a share of what is left', () => {
  const manifest = sampleManifest({ tasks }, { metric: 'score' });
  const open: Assertion = {
    name: 'judge',
    severity: 'soft',
    optional: true,
    points: 5,
    message: '',
    status: 'unavailable',
    evidence: { events: [] },
  };
  const rows = manifest.case_matrix.map((planned): CaseRow => {
    if (planned.variant === 'baseline') return graded(planned, 0);
    if (planned.task_id === 'task-1') return graded(planned, 5, { max_score: 5 }); // it stopped before the end
    if (planned.task_id === 'task-2') return graded(planned, 10, { assertions: [open] });
    if (planned.task_id === 'task-3') return sampleRow(planned, 'passed');
    return graded(planned, 10);
  });
  const summary = summarize(manifest, rows);
  expect(armsOf(summary)[1]?.primary).toMatchObject({ value: 1, known: 3, missing: 3, bounds: [0.5, 1] });
  expect(summary.comparisons).toMatchObject([
    { tasks: 3, tasks_without_result: ['task-1', 'task-2', 'task-3'], verdict: 'inconclusive' },
  ]);
  expect(summary.caveats.join('\n')).toContain('The score of 3 cases is not known');
});

test('an early exit leaves no rate of trials: what is compared is whether any trial passed', () => {
  const manifest = sampleManifest({ tasks, trials: 3 }, { metric: 'pass_at_k', early_exit: true });
  const rows = manifest.case_matrix.flatMap((planned) => {
    if (planned.variant === 'baseline') return sampleRow(planned, 'failed');
    // Passes at the second trial, and the third does not run; the last task has only failures and an error.
    if (planned.task_id === 'task-6')
      return sampleRow(planned, planned.trial_index === 1 ? 'error' : 'failed');
    return planned.trial_index === 3
      ? []
      : sampleRow(planned, planned.trial_index === 2 ? 'passed' : 'failed');
  });
  const summary = summarize(manifest, rows);
  const [baseline, variant] = armsOf(summary);
  expect(summary.cases).toMatchObject({ planned: 36, finished: 31, not_run: 5, missing: 0 });
  expect(baseline).toMatchObject({
    primary: { value: 0 },
    pass_rate: null,
    pass_at_k: { k: 3, any: 0, all: null, all_interval: null },
  });
  expect(variant).toMatchObject({
    ...{ primary: { value: 1, known: 5, missing: 1, bounds: [5 / 6, 1] }, pass_at_k: null },
    ...{ pass_rate: null, pass_rate_interval: null, not_run: 5 },
  });
  expect(summary.comparisons).toMatchObject([{ difference: 1, tasks: 5, these_tasks_p_value: null }]);
  expect(summary.comparisons[0]?.sentence).toContain('pass@3 +100 pp');
  expect(summary.caveats.join('\n')).toContain('Early exit: 5 of 36 cases did not run');
});

test('a trial that an early exit left out is missing data when no trial of the work passes any more', () => {
  const manifest = sampleManifest(
    { tasks: ['one'], variants: ['baseline'], trials: 2 },
    { metric: 'pass_at_k', early_exit: true },
  );
  const [first = expect.fail()] = manifest.case_matrix;
  expect(summarize(manifest, [sampleRow(first, 'failed')])).toMatchObject({
    cases: { not_run: 0, missing: 1 },
    arms: [{ primary: { value: null, bounds: [0, 1] } }],
  });
});
