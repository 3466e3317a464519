import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { assertionLines } from './assertion-lines.ts';
import type { CaseResult } from './case-results.ts';
import { oneLine, plainText } from './sanitize.ts';
import { resultsOfRun } from './sequential.ts';
import type { Arm, Summary } from './summary.ts';

type LogTail = (row: CaseRow) => string;

/** What the JUnit report of a run is made from. `logTail`: the end of the log that shows why a case did not pass. */
export type JunitRun = { summary: Summary; manifest: Manifest; rows: readonly CaseRow[]; logTail: LogTail };

/**
 * JUnit XML of one run or of several: one suite per agent × variant, one test case per planned case. A failed case is a
 * `<failure>`, an infrastructure error an `<error>`, a case that did not run, has not finished or skipped itself a `<skipped>`.
 */
export function renderJunit(runs: readonly JunitRun[]): string {
  const all = runs.map((run) => ({ ...run, cases: resultsOfRun(run.manifest, run.rows) }));
  const sum = (read: (counts: Summary['cases']) => number) =>
    all.reduce((total, { summary }) => total + read(summary.cases), 0);
  const head = xmlAttributes({
    name: ['whetstone', ...all.map(({ summary }) => summary.run_id)].join(' '),
    tests: sum(({ planned }) => planned),
    failures: sum(({ failed }) => failed),
    errors: sum(({ error }) => error),
    skipped: sum(({ missing, skipped, not_run }) => missing + skipped + not_run),
    time: duration(all.flatMap(({ cases }) => cases)),
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${head}>`,
    ...all.flatMap(({ summary, manifest, cases, logTail }) =>
      summary.arms.flatMap((arm) => testSuite(arm, manifest, cases, logTail)),
    ),
    '</testsuites>',
    '',
  ].join('\n');
}

function testSuite(arm: Arm, manifest: Manifest, cases: readonly CaseResult[], logTail: LogTail): string[] {
  const ofArm = cases.filter((one) => one.agent_name === arm.agent && one.variant === arm.variant);
  const head = xmlAttributes({
    name: `${arm.agent}.${arm.variant}`,
    tests: ofArm.length,
    failures: arm.failed,
    errors: arm.error,
    skipped: arm.missing + arm.skipped + arm.not_run,
    time: duration(ofArm),
    timestamp: manifest.created_at,
  });
  return [
    `  <testsuite${head}>`,
    '    <properties>',
    ...properties(manifest).map(([name, value]) => `      <property${xmlAttributes({ name, value })}/>`),
    '    </properties>',
    ...ofArm.flatMap((one) => testCase(one, logTail)),
    '  </testsuite>',
  ];
}

function properties(manifest: Manifest): [name: string, value: string][] {
  const commits = new Set(manifest.tasks.map((task) => task.commit));
  const { provider, level } = manifest.isolation;
  return [
    ['run_id', manifest.run_id],
    ['seed', manifest.seed],
    ...[...commits].map((commit): [string, string] => ['commit', commit]),
    ...(manifest.config_hash === null ? [] : [['config_hash', manifest.config_hash] as [string, string]]),
    ['isolation', `${provider}, level ${level}`],
    ['whetstone_version', manifest.whetstone_version],
  ];
}

const NOT_RUN = {
  passed: 'not run: another trial had passed',
  look: 'not run: the run ended at an earlier look',
};

function testCase(one: CaseResult, logTail: LogTail): string[] {
  const head = xmlAttributes({
    classname: `${one.agent_name}.${one.variant}`,
    name: `${one.task_id} #${one.trial_index}`,
    time: duration([one]),
  });
  const { row } = one;
  if (row === null) {
    const why = one.notRun ? NOT_RUN[one.notRun] : 'not finished';
    return [`    <testcase${head}>`, `      <skipped message="${why}"/>`, '    </testcase>'];
  }
  const isPassed = row.outcome === 'passed';
  const isSkipped = row.outcome === 'skipped';
  // What did not pass has its assertions in the failure.
  const said = [
    ...(row.reproducibility ? [`reproducibility: ${row.reproducibility}`] : []),
    ...(row.reused_from ? [`reused from run ${row.reused_from.run_id}`] : []),
    ...(isPassed || isSkipped ? assertionLines(row) : []),
  ];
  const output =
    said.length > 0 ? [`      <system-out>${escapeXml(plainText(said.join('\n')))}</system-out>`] : [];
  if (isSkipped) {
    const why = xmlAttributes({ message: oneLine(row.evidence ?? '') });
    return [`    <testcase${head}>`, `      <skipped${why}/>`, ...output, '    </testcase>'];
  }
  if (isPassed) {
    if (output.length === 0) return [`    <testcase${head}/>`];
    return [`    <testcase${head}>`, ...output, '    </testcase>'];
  }
  const text = [...assertionLines(row), logTail(row)].filter((part) => part !== '').join('\n');
  const tag = row.outcome === 'error' ? 'error' : 'failure';
  const cause = xmlAttributes({
    type: row.failure_class ?? 'unclassified',
    message: oneLine(row.evidence ?? 'no evidence was recorded'),
  });
  return [
    `    <testcase${head}>`,
    `      <${tag}${cause}>${escapeXml(plainText(text))}</${tag}>`,
    ...output,
    '    </testcase>',
  ];
}

/** The seconds of these cases, added up. */
function duration(cases: readonly CaseResult[]): string {
  return cases.reduce((sum, one) => sum + (one.row?.duration_seconds ?? 0), 0).toFixed(3);
}

export function xmlAttributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(oneLine(String(value)))}"`)
    .join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes plain text, which has no control characters. XML 1.0 also forbids U+FFFE and U+FFFF. */
export function escapeXml(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, '')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
