import { expect, test } from 'vitest';
import { sampleManifest, sampleRow } from './__fixtures__/sample-run.ts';
import { renderMarkdown } from './markdown.ts';
import { summarize } from './summarize.ts';

const manifest = sampleManifest({ tasks: ['one', 'two', 'three', 'four', 'five'] });
const categories: Record<string, string | null> = { one: 'issue', two: 'tests', three: 'tests', four: null };

const reportOf = (categoryOf: (task: string) => string | null) => {
  // Nothing has finished of the last one.
  const finished = manifest.case_matrix.filter(({ task_id }) => task_id !== 'five');
  const rows = finished.map((planned) => {
    const { task_id, variant } = planned;
    const outcome = variant === 'baseline' ? 'failed' : task_id === 'three' ? 'error' : 'passed';
    return sampleRow(planned, outcome, { category: categoryOf(task_id) });
  });
  return renderMarkdown(summarize(manifest, rows), manifest, rows);
};

test('a report is split by the categories of its tasks, where there are two', () => {
  const [, table = ''] = reportOf((task) => categories[task] ?? null).split('## Categories\n\n');
  const [head, , ...lines] = table.split('\n\n')[0]?.split('\n') ?? [];
  expect(head).toMatch(/^\| Category \| .*baseline \| /);
  expect(lines).toEqual(['| issue | 0/1 | 1/1 |', '| tests | 0/2 | 1/1 +1 |', '| – | 0/1 +1 | 1/1 +1 |']);
  expect(reportOf(() => 'issue')).not.toContain('## Categories');
});
