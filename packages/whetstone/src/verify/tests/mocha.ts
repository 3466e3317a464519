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

/** Root hooks run before the first test. Mocha before version 8 has none, and must not seem to have run another order. */
const REVERSED = `const { version } = require(require.resolve('mocha/package.json', { paths: [process.cwd()] }));
if (parseInt(version) < 8) throw new Error('This version of Mocha knows no root hooks.');
const reverse = ({ tests, suites }) => {
  tests.reverse();
  for (const suite of suites.reverse()) reverse(suite);
};
exports.mochaHooks = {
  beforeAll() {
    let root = this.test.parent;
    while (root.parent) root = root.parent;
    reverse(root);
  },
};
`;

/** Before version 9.2, Mocha's own JSON report goes only to standard output, between what tests print. */
const REPORTER = `const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
module.exports = function (runner) {
  const report = { passes: [], failures: [], pending: [] };
  const keep = (list) => (test, error) => {
    const { message } = error || {};
    list.push({ fullTitle: test.fullTitle(), file: test.file, err: typeof message === 'string' ? { message } : {} });
  };
  runner.on('pass', keep(report.passes));
  runner.on('fail', keep(report.failures));
  runner.on('pending', keep(report.pending));
  runner.on('end', () => writeFileSync(join(__dirname, 'report'), JSON.stringify(report)));
};
`;

export const mocha: TestRunner = {
  varies: { order: true, date: true },
  settings: { files: /^\.mocharc(\.\w+)?$/, key: 'mocha' },
  invoke: ({ files, options }, folder, { date, order, settings }) => ({
    script: nodeScript('mocha'),
    args: [
      ...(settings === 'ours' ? ['--no-config', '--no-package'] : []),
      ...(order ? ['--require', `${folder}/reverse.cjs`] : []),
      ...['--reporter', `${folder}/reporter.cjs`, ...options, ...files],
    ],
    env: date ? laterNode() : {},
    files: { 'reporter.cjs': REPORTER, ...(order && { 'reverse.cjs': REVERSED }) },
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
