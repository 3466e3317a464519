import { z } from 'zod';
import { laterNode } from './later-date.ts';
import {
  collectTests,
  NO_REPORT,
  nodeScript,
  type TestReport,
  type TestRunner,
  type TestStatus,
  testId,
} from './test-runner.ts';

/** Jest's JSON report, which Vitest writes too. */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().nullish(),
      status: z.string().nullish(),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** Vite would look for the settings of PostCSS, which are programs, and for variables. */
const VITEST_SETTINGS = 'export default { envDir: false, css: { postcss: { plugins: [] } } };\n';

/** Before version 4, Vitest starts another worker whenever one has ended, also after the last test file. */
const NO_IDLE_WORKERS = { VITEST_MIN_FORKS: '0', VITEST_MIN_THREADS: '0' };

/** With this seed Vitest reverses two, three and four tests. */
export const vitest: TestRunner = {
  varies: { order: true, date: true },
  settings: { files: /^(vitest|vite)\.(config|workspace)\.\w+$/ },
  invoke: ({ files, options }, folder, { order, date, settings }) => ({
    script: nodeScript('vitest run'),
    ...(settings === 'ours' && { files: { 'vitest.config.mjs': VITEST_SETTINGS } }),
    args: [
      ...(settings === 'ours' ? ['--root=.', `--config=${folder}/vitest.config.mjs`] : []),
      '--reporter=json',
      `--outputFile=${folder}/report`,
      // Before version 1.3, `--coverage.enabled=false` turns coverage on.
      '--coverage=false',
      ...(order ? ['--sequence.shuffle.tests', '--sequence.seed=28'] : []),
      ...options,
      ...files,
    ],
    env: { CI: '1', ...NO_IDLE_WORKERS, ...(date && laterNode()) },
  }),
  read,
};

export const jest: TestRunner = {
  varies: { order: true, date: true },
  settings: { files: /^jest\.config\.\w+$/, key: 'jest' },
  invoke: ({ files, options }, folder, { order, date, settings }) => ({
    script: nodeScript('jest'),
    args: [
      ...(settings === 'ours' ? ['--config={}', '--rootDir=.'] : []),
      '--json',
      `--outputFile=${folder}/report`,
      '--coverage=false',
      '--ci',
      ...(order ? ['--randomize', '--seed=1'] : []),
      ...options,
      '--runTestsByPath',
      ...files,
    ],
    env: { CI: '1', ...(date && laterNode()) },
  }),
  read,
};

function read({ report, relative }: Parameters<TestRunner['read']>[0]): TestReport {
  if (report === undefined) return NO_REPORT;
  const parsed = reportSchema.safeParse(JSON.parse(report));
  if (!parsed.success) return { tests: new Map(), problems: ['the report does not have the shape of one'] };
  const { tests, counts, messages, add } = collectTests();
  const problems: string[] = [];
  for (const { name, message, status, assertionResults } of parsed.data.testResults) {
    const file = relative(name);
    if (status === 'failed' && assertionResults.length === 0) {
      problems.push(`${file} could not be loaded: ${(message ?? '').trim().split('\n', 1)[0]}`);
    }
    for (const one of assertionResults)
      add(testId(file, ...one.ancestorTitles, one.title), statusOf(one.status), {
        message: one.failureMessages?.join('\n'),
      });
  }
  return { tests, counts, messages, problems };
}

const statusOf = (status: string): TestStatus =>
  status === 'passed' || status === 'failed' ? status : 'skipped';
