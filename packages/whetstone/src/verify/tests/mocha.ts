import { z } from 'zod';
import { laterNode } from './later-date.ts';
import { collectTests, NO_REPORT, nodeScript, type TestRunner, testId } from './test-runner.ts';

const test = z.object({
  fullTitle: z.string(),
  file: z.string().nullish(),
  err: z.object({ message: z.string().optional() }).nullish(),
});
const reportSchema = z.object({
  passes: z.array(test),
  failures: z.array(test),
  pending: z.array(test),
});

export const mocha: TestRunner = {
  varies: { order: false, date: true },
  invoke: ({ files, options }, folder, { date }) => ({
    script: nodeScript('mocha'),
    args: ['--reporter', 'json', '--reporter-option', `output=${folder}/report`, ...options, ...files],
    env: date ? laterNode() : {},
  }),
  read({ report, relative }) {
    if (report === undefined || report === '') return NO_REPORT;
    const parsed = reportSchema.safeParse(JSON.parse(report));
    if (!parsed.success) return { tests: new Map(), problems: ['the report does not have the shape of one'] };
    const { tests, counts, messages, add } = collectTests();
    const { passes, failures, pending } = parsed.data;
    for (const [status, list] of [
      ['passed', passes],
      ['failed', failures],
      ['skipped', pending],
    ] as const) {
      for (const { fullTitle, file, err } of list)
        add(testId(file ? relative(file) : '', fullTitle), status, { message: err?.message });
    }
    return { tests, counts, messages, problems: [] };
  },
};
