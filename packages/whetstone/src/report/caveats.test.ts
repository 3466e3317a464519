import { expect, test } from 'vitest';
import { sampleManifest, sampleRow, sampleRun } from './__fixtures__/sample-run.ts';
import { summarize } from './summarize.ts';

test('a verdict counts as weak only where there is one', () => {
  const { manifest, rows } = sampleRun();
  const judged = rows.map((row) => ({ ...row, judged_by: 'exit-codes' as const }));
  const weakIn = (shown: typeof judged) =>
    summarize(manifest, shown).caveats.find((caveat) => caveat.startsWith('The verdict is weak'));
  const errors = judged.filter(({ outcome }) => outcome === 'error');
  expect(errors.length).toBeGreaterThan(0);
  expect(weakIn(errors)).toBeUndefined();
  expect(weakIn(judged)).toContain(`weak in ${judged.length - errors.length} cases`);
});

test('no pass rate changes by more than 100 points in a run', () => {
  const manifest = sampleManifest({
    agents: ['agent'],
    tasks: Array.from({ length: 10 }, (_, index) => `task-${index}`),
    variants: ['baseline'],
    trials: 1,
  });
  const rows = manifest.case_matrix.map((planned, index) =>
    sampleRow(planned, index < 5 ? 'failed' : 'passed', { started_at: `2026-01-02T03:04:1${index}.000Z` }),
  );
  const { drift, caveats } = summarize(manifest, rows);
  expect(drift[0]?.change).toBe(1);
  expect(caveats.join(' ')).toContain('changed by about +100 pp');
});
