import { parse } from 'junit2json';
import { expect, test } from 'vitest';
import { hostileRun, sampleRun } from './__fixtures__/sample-run.ts';
import { renderJunit } from './junit.ts';
import { summarize } from './summarize.ts';

test.each(Object.entries({ sample: sampleRun(), hostile: hostileRun() }))(
  'a parser of JUnit reads the %s run with every count and every case',
  async (_, { manifest, rows }) => {
    const summary = summarize(manifest, rows);
    const xml = renderJunit([{ summary, manifest, rows, logTail: () => ']]> <not> & an end' }]);
    const read = await parse(xml);
    if (!read || !('testsuite' in read)) throw new Error('no suites were read');
    const { cases } = summary;
    expect(read).toMatchObject({ tests: cases.planned, failures: cases.failed, errors: cases.error });
    const suites = read.testsuite ?? [];
    expect(suites).toHaveLength(summary.arms.length);
    const all = suites.flatMap(({ testcase }) => testcase ?? []);
    expect(all).toHaveLength(cases.planned);
    expect(all.filter(({ failure }) => failure !== undefined)).toHaveLength(cases.failed);
    expect(all.filter(({ error }) => error !== undefined)).toHaveLength(cases.error);
    expect(all.filter(({ skipped }) => skipped !== undefined)).toHaveLength(
      cases.missing + cases.skipped + cases.not_run,
    );
  },
);
