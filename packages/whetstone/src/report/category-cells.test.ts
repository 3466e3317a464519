import { expect, test } from 'vitest';
import { sampleManifest, sampleRow } from './__fixtures__/sample-run.ts';
import { renderJson } from './json.ts';
import { renderMarkdown } from './markdown.ts';
import { summarize } from './summarize.ts';

const manifest = sampleManifest({ tasks: ['one', 'two', 'three', 'four', 'five'] });
const categories: Record<string, string | null> = { one: 'issue', two: 'tests', three: 'tests', four: null };

const runOf = (categoryOf: (task: string) => string | null) => {
  // Nothing has finished of the last one.
  const finished = manifest.case_matrix.filter(({ task_id }) => task_id !== 'five');
  const rows = finished.map((planned) => {
    const { task_id, variant } = planned;
    const outcome = variant === 'baseline' ? 'failed' : task_id === 'three' ? 'error' : 'passed';
    return sampleRow(planned, outcome, { category: categoryOf(task_id) });
  });
  return { summary: summarize(manifest, rows), rows };
};
const reportOf = (categoryOf: (task: string) => string | null) => {
  const { summary, rows } = runOf(categoryOf);
  return renderMarkdown(summary, manifest, rows);
};

test('a report is split by the categories of its tasks, where there are two', () => {
  const [, table = ''] = reportOf((task) => categories[task] ?? null).split('## Categories\n\n');
  const [head, , ...lines] = table.split('\n\n')[0]?.split('\n') ?? [];
  expect(head).toMatch(/^\| Category \| .*baseline \| /);
  expect(lines).toEqual(['| issue | 0/1 | 1/1 |', '| tests | 0/2 | 1/1 +1 |', '| – | 0/1 +1 | 1/1 +1 |']);
  expect(reportOf(() => 'issue')).not.toContain('## Categories');
});

test('the JSON of a report is split by them as well', () => {
  const { summary, rows } = runOf((task) => categories[task] ?? null);
  const read = JSON.parse(renderJson(summary, rows));
  const counts = { passed: 0, failed: 0, error: 0, skipped: 0, not_run: 0, missing: 0 };
  const agent = manifest.agents[0]?.name;
  const variant = manifest.variants.find(({ name }) => name !== 'baseline')?.name;
  expect(read.summary.categories).toEqual([
    { agent, category: 'issue', variant: 'baseline', ...counts, failed: 1 },
    { agent, category: 'issue', variant, ...counts, passed: 1 },
    { agent, category: 'tests', variant: 'baseline', ...counts, failed: 2 },
    { agent, category: 'tests', variant, ...counts, passed: 1, error: 1 },
    { agent, category: null, variant: 'baseline', ...counts, failed: 1, missing: 1 },
    { agent, category: null, variant, ...counts, passed: 1, missing: 1 },
  ]);
  expect(runOf(() => 'issue').summary.categories).toEqual([]);
});
