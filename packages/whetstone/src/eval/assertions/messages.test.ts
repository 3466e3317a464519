import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as surface from '../../expect.ts';
import { recordsOf, story, subjectOf } from './__fixtures__/subject.ts';
import type { AssertionRecord } from './assertion.ts';
import type { Assertions } from './assertions.ts';

const {
  and,
  calling,
  commandMatch,
  commandSucceeded,
  editing,
  equals,
  excludes,
  first,
  firstEdit,
  includes,
  isDefined,
  isFalse,
  isTrue,
  jsonMatch,
  last,
  lastEdit,
  matches,
  not,
  or,
  pattern,
  reading,
  referencesAnyPath,
  running,
  satisfies,
  saying,
  scored,
  seeing,
  similarity,
  toolMatch,
} = surface;

const golden = join(import.meta.dirname, '__fixtures__', 'failures.txt');
const subject = subjectOf(story, { status: 'failed', data: { sum: 3 } });

const failing: ((t: Assertions) => unknown)[] = [
  (t) => t.succeeded(),
  (t) => t.check('the sum is off', includes('fixed')),
  (t) => t.check(Promise.resolve('fixing'), similarity('fixed it')),
  (t) => t.check(3, equals(4)),
  (t) =>
    t.check(
      [1],
      satisfies((list: number[]) => list.length > 1, 'has two'),
    ),
  (t) => t.noSecretIn('any', ['sk-live-1234567']),
  (t) => t.maxTokens(1000),
  (t) => t.maxCost(0.01),
  (t) => t.calledTool('write'),
  (t) => t.calledTool('shell', { input: { command: /pnpm/ } }),
  (t) => t.calledTool('shell', { count: 3 }),
  (t) => t.calledTool(commandMatch('pnpm', { argsStart: ['test'] })),
  (t) => t.notCalledTool('edit', { input: { path: 'src/sum.ts' } }),
  (t) => t.notCalledTool(commandMatch('rm')),
  (t) => t.notCalledTool(referencesAnyPath(['**/sum.ts'])),
  (t) => t.toolOrder(['edit', 'read']),
  (t) => t.usedNoTools(),
  (t) => t.maxToolCalls(2),
  (t) => t.loadedSkill('testing'),
  (t) => t.calledSubagent('tester'),
  (t) => t.calledSubagent('reviewer', { status: 'completed' }),
  (t) => t.noFailedActions(),
  (t) => t.event('compaction'),
  (t) => t.event({ type: 'message', text: /sorry/ }),
  (t) => t.notEvent('error'),
  (t) => t.eventOrder(['error', 'thinking']),
  (t) => t.eventsSatisfy('is short', (events) => events.length < 10),
  (t) => t.fileChanged('src/other.ts'),
  (t) => t.fileChanged('src/*.ts', { status: 'added' }),
  (t) => t.fileChanged('src/sum.ts', { after: includes('a * b') }),
  (t) => t.fileDeleted('src/sum.ts'),
  (t) => t.diff.changedOnly(['src/**']),
  (t) => t.diff.excludes('TODO'),
  (t) => t.outputEquals({ sum: 4 }),
  (t) => t.outputMatches(z.object({ sum: z.string() })),
  (t) => t.after(lastEdit).ran(/test/),
  (t) => t.after(first(running('npm test'))).never.edited('src/**'),
  (t) => t.after(last(running('cargo'))).said('done'),
  (t) => t.never.read('src/sum.ts'),
  (t) => t.never.ran(commandMatch('rm')),
  (t) => t.never.calledTool(toolMatch(/^load_/)),
  (t) => t.before(firstEdit).read('README.md'),
  (t) => t.before(firstEdit, first(running(/test/))),
  (t) => t.ran('npm run lint'),
  (t) => t.edited('docs/**'),
  (t) => t.said('sorry'),
  (t) => t.within(1).turns,
  (t) => t.within(2).modelCalls,
  (t) => t.within(3).toolCalls,
  (t) => t.check('x', not(includes('x'))),
  (t) => t.check('the sun', similarity('the sum')).gate(0.99),
  (t) => t.check('fixed', excludes('fix')),
  (t) => t.check('fixed', pattern(/^broken/)),
  (t) => t.check('fixed', and(includes('fix'), includes('sum'))),
  (t) => t.check('fixed', or(includes('sum'), equals('broken'))),
  (t) => t.check({ sum: 3, of: [1, 2] }, jsonMatch({ sum: 4 })),
  (t) => t.check(undefined, isDefined('the answer')),
  (t) => t.check(1, isTrue()),
  (t) => t.check(true, isFalse('is clean')),
  (t) => t.check({ sum: '3' }, matches(z.object({ sum: z.number() }))),
  (t) => t.check({ exitCode: 2 }, commandSucceeded()),
  (t) => t.check('Lyon', scored(Named, { expected: 'Paris' })),
  (t) => t.after(lastEdit).calledTool('read'),
  (t) => t.after(lastEdit).event('compaction'),
  (t) => t.after(first(calling('edit'))).edited('docs/**'),
  (t) => t.after(first(seeing('error'))).read('src/sum.ts'),
  (t) => t.after(first(saying('fixed'))).never.ran(/rm/),
  (t) => t.before(first(editing('src/**'))).said('done'),
  (t) => t.before(last(reading('src/sum.ts'))).ran('npm run lint'),
  (t) => t.read('src/other.ts'),
  (t) => t.never.edited('src/**'),
  (t) => t.never.event('error'),
  (t) => t.never.said(/fixed/),
];

/** As a scorer of `autoevals` looks. */
function Named({ output, expected }: { output: string; expected: string }) {
  return { name: 'Named', score: output === expected ? 1 : 0, metadata: { rationale: 'another city' } };
}

const describeRecord = ({ name, status, message, evidence }: AssertionRecord): string =>
  [
    `${name}: ${status}`,
    `  ${message}`,
    `  events: ${evidence.events.join(', ') || 'none'}`,
    ...(evidence.text?.split('\n').map((line) => `    ${line}`.trimEnd()) ?? []),
  ].join('\n');

test('every assertion that fails says why and shows the events that it is about', async () => {
  const records = await recordsOf(subject, async (t) => {
    for (const run of failing) await run(t);
  });
  expect(records.filter(({ status }) => status !== 'failed').map(({ name }) => name)).toEqual([]);
  expect(records).toHaveLength(failing.length);
  await expect(`${records.map(describeRecord).join('\n\n')}\n`).toMatchFileSnapshot(golden);
});

const examples = failing.map(String).join('\n');
const lacking = (names: readonly string[], use: (name: string) => RegExp): string[] =>
  names.filter((name) => !use(name).test(examples));

test('no method of the assertions is without a failing example', async () => {
  const found: { on: RegExp; methods: string[] }[] = [];
  await recordsOf(subject, (t) => {
    found.push(
      { on: /\bt\.(?:diff\.)?/, methods: Object.keys(t).filter((name) => name !== 'diff') },
      { on: /\bt\.diff\./, methods: ['changedOnly', 'excludes'] },
      { on: /\bt\.never\./, methods: Object.keys(t.never) },
      { on: /\bafter\(.*\)\./, methods: Object.keys(t.after(lastEdit)) },
      { on: /\bwithin\(\d\)\./, methods: Object.keys(Object.getOwnPropertyDescriptors(t.within(1))) },
    );
  });
  expect(found.map(({ methods }) => methods.length > 1)).not.toContain(false);
  expect(
    found.flatMap(({ on, methods }) => lacking(methods, (name) => new RegExp(`${on.source}${name}\\b`))),
  ).toEqual([]);
});

test('no matcher and no moment is without a failing example', () => {
  const { labelAgreement: _, ...exported } = surface;
  expect(Object.keys(exported).length).toBeGreaterThan(20);
  expect(lacking(Object.keys(exported), (name) => new RegExp(`\\b${name}\\b`))).toEqual([]);
});
