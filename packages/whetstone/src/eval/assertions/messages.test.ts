import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { commandMatch, referencesAnyPath } from '../expect/commands.ts';
import { not } from '../expect/logic.ts';
import { includes, similarity } from '../expect/texts.ts';
import { toolMatch } from '../expect/tools.ts';
import { equals, satisfies } from '../expect/values.ts';
import { recordsOf, story, subjectOf } from './__fixtures__/subject.ts';
import { running } from './activities.ts';
import type { AssertionRecord } from './assertion.ts';
import type { Assertions } from './assertions.ts';
import { first, firstEdit, last, lastEdit } from './moments.ts';

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
];

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

test('no method of the assertions is without a failing example', async () => {
  const names = (
    await recordsOf(subject, async (t) => {
      for (const run of failing) await run(t);
    })
  ).map(({ name }) => name);
  const methods: string[] = [];
  await recordsOf(subject, (t) => methods.push(...Object.keys(t)));
  const missing = methods.filter((method) => !names.some((name) => name.includes(method)));
  // Their failing examples have the name of the tool call that they refuse.
  expect(missing).toEqual([]);
});
