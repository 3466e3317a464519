import { expect, test } from 'vitest';
import { sampleRun } from './__fixtures__/sample-run.ts';
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
