import type { TaskAudit } from '../record/audits.ts';
import { escapeXml, xmlAttributes } from '../report/junit.ts';
import { oneLine, plainText } from '../report/sanitize.ts';

/** JUnit XML of an audit: one suite per task, one test case per thing that was played, and one per finding of another kind. */
export function auditJunit(audits: readonly TaskAudit[]): string {
  const suites = audits.map((audit) => ({ audit, cases: casesOf(audit) }));
  const all = suites.flatMap(({ cases }) => cases);
  const failures = all.filter(({ failure }) => failure !== undefined).length;
  const time = audits.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${xmlAttributes({ name: 'whetstone audit', tests: all.length, failures, time })}>`,
    ...suites.flatMap(({ audit, cases }) => [
      `  <testsuite${xmlAttributes({
        name: audit.task,
        tests: cases.length,
        failures: cases.filter(({ failure }) => failure !== undefined).length,
        time: audit.seconds.toFixed(3),
      })}>`,
      ...cases.flatMap((one) => testCase(audit.task, one)),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

type Case = { name: string; failure?: { type: string; message: string; text: string } };

function casesOf({ oracle, nop, cheats, mutants, refactors, findings }: TaskAudit): Case[] {
  const played: [string, unknown, readonly string[]][] = [
    ['the gold patch passes', oracle, ['oracle-fails']],
    ['no work fails', nop, ['nop-passes']],
    ['every cheat fails', cheats, ['exploit']],
    ['wrong solutions fail', mutants, ['false-pass']],
    ['right solutions pass', refactors, ['false-fail']],
  ];
  const cases = played.flatMap(([name, tally, kinds]): Case[] => {
    if (tally === null) return [];
    const found = findings.filter(({ kind }) => kinds.includes(kind));
    return [found.length === 0 ? { name } : { name, failure: failureOf(found) }];
  });
  const known = new Set(played.flatMap(([, , kinds]) => kinds));
  const others = Map.groupBy(
    findings.filter(({ kind }) => !known.has(kind)),
    ({ kind }) => kind,
  );
  return [...cases, ...[...others].map(([kind, found]) => ({ name: kind, failure: failureOf(found) }))];
}

const failureOf = (found: TaskAudit['findings']) => ({
  type: found[0]?.kind ?? 'finding',
  message: found.map(({ subject }) => subject).join(', '),
  text: found.map(({ subject, what, fix }) => `${subject}: ${what}\nHow to close it: ${fix}`).join('\n'),
});

function testCase(task: string, { name, failure }: Case): string[] {
  const head = xmlAttributes({ classname: task, name });
  if (!failure) return [`    <testcase${head}/>`];
  const cause = xmlAttributes({ type: failure.type, message: oneLine(failure.message) });
  const text = escapeXml(plainText(failure.text));
  return [`    <testcase${head}>`, `      <failure${cause}>${text}</failure>`, '    </testcase>'];
}
