import { laterNode } from './later-date.ts';
import {
  collectTests,
  ENDED_EARLY,
  NO_REPORT,
  nodeScript,
  type TestReport,
  type TestRunner,
  testId,
} from './test-runner.ts';

/** A reporter that prints a line of JSON for each test, in the order of the tests. */
const REPORTER = `export default async function* (source) {
  for await (const { type, data } of source) {
    if (!['test:start', 'test:pass', 'test:fail'].includes(type)) continue;
    const { name, nesting, file, skip, todo, details } = data;
    const error = details?.error?.cause ?? details?.error;
    const message = type === 'test:fail' ? String(error?.message ?? error).slice(0, 4000) : undefined;
    yield JSON.stringify({ type, name, nesting, file, skip, todo, kind: details?.type, message }) + '\\n';
  }
  yield JSON.stringify({ type: 'end' }) + '\\n';
}
`;

type Line = {
  type: 'test:start' | 'test:pass' | 'test:fail' | 'end';
  name: string;
  nesting: number;
  file?: string;
  skip?: unknown;
  todo?: unknown;
  kind?: 'suite' | 'test';
  message?: string;
};

/** Node's own runner. */
export const nodeTest: TestRunner = {
  varies: { order: true, date: true },
  invoke: ({ files, options }, folder, { date, order }) => ({
    script: nodeScript('node --test'),
    args: [
      ...options,
      // Only newer versions of Node know it: with an older one no test runs. This seed turns two and three tests around.
      ...(order ? ['--test-randomize', '--test-random-seed=3'] : []),
      `--test-reporter=${folder}/reporter.mjs`,
      `--test-reporter-destination=${folder}/report`,
      ...files,
    ],
    env: date ? laterNode() : {},
    files: { 'reporter.mjs': REPORTER },
  }),
  read({ report, relative }) {
    if (report === undefined) return NO_REPORT;
    return readLines(report.split('\n').filter(Boolean), relative);
  },
};

function readLines(lines: readonly string[], relative: (path: string) => string): TestReport {
  const { tests, counts, messages, add } = collectTests();
  const problems: string[] = [];
  const namesOf = new Map<string, string[]>();
  let isWhole = false;
  for (const line of lines) {
    const { type, name, nesting, file = '', skip, todo, kind, message }: Line = JSON.parse(line);
    isWhole = type === 'end';
    if (isWhole) continue;
    const path = relative(file);
    const names = namesOf.get(path) ?? [];
    namesOf.set(path, names);
    names.length = nesting;
    names[nesting] = name;
    if (type === 'test:start' || kind === 'suite') continue;
    // A file that ends before its tests have is reported like a test with the name of the file.
    if (nesting === 0 && relative(name) === path) {
      if (type === 'test:fail') problems.push(`${path} could not be run to its end`);
      continue;
    }
    const isSkipped = (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
    const status = isSkipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    add(testId(path, ...names), status, { message });
  }
  if (!isWhole) problems.push(ENDED_EARLY);
  return { tests, counts, messages, problems };
}
