import { expect, test } from 'vitest';
import { sampleManifest, sampleRow } from '../report/__fixtures__/sample-run.ts';
import { renderJson } from '../report/json.ts';
import { summarize } from '../report/summarize.ts';
import { compactAnswer } from './compact.ts';

const manifest = sampleManifest({ tasks: Array.from({ length: 11 }, (_, index) => `task-${index}`) });

const answerTo = (categoryOf: (task: string) => string) => {
  const rows = manifest.case_matrix.map((planned) =>
    sampleRow(planned, 'passed', { category: categoryOf(planned.task_id) }),
  );
  return compactAnswer(JSON.parse(renderJson(summarize(manifest, rows), rows)));
};

test('the answer to a model has the counts of categories, the first of many, and none of one', () => {
  const shown = [{ category: 'issue', passed: 1 }, { passed: 1 }, { category: 'tests', passed: 10 }, {}];
  const split = answerTo((task) => (task === 'task-0' ? 'issue' : 'tests'));
  expect(split).toMatchObject({ summary: { categories: { shown, more: 0 } } });
  expect(answerTo((task) => task)).toMatchObject({ summary: { categories: { more: 2 } } });
  expect(answerTo(() => 'issue')).not.toHaveProperty('summary.categories');
});
