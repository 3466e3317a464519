import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { commandMatch, referencesAnyPath } from './commands.ts';
import { jsonMatch } from './json-match.ts';
import { and, not, or } from './logic.ts';
import type { Match, Matcher } from './matcher.ts';
import type { ToolCall } from './patterns.ts';
import { scored } from './scored.ts';
import { excludes, includes, pattern, similarity } from './texts.ts';
import { commandSucceeded, toolMatch } from './tools.ts';
import { equals, isDefined, isFalse, isTrue, matches, satisfies } from './values.ts';

const shell = (command: string | string[], more: Partial<ToolCall> = {}): ToolCall => ({
  callId: '1',
  name: 'shell',
  input: { command },
  status: 'completed',
  ...more,
});

const statusOf = async (matcher: Matcher<never>, value: unknown) =>
  (await matcher.match(value as never)).status;

const yes = { status: 'matched' };
const no = { status: 'mismatched' };
const unknown = { status: 'unavailable' };

test.each<[string, Matcher<never>, unknown, { status: string }]>([
  ['includes in a text', includes('b'), 'abc', yes],
  ['includes an expression', includes(/B/i), 'abc', yes],
  ['includes an item', includes({ a: 1 }), [{ a: 1 }], yes],
  ['includes in nothing', includes('b'), undefined, unknown],
  ['includes in a number', includes('1'), 1, unknown],
  ['excludes', excludes('x'), 'abc', yes],
  ['excludes from nothing', excludes('x'), undefined, unknown],
  ['pattern, twice with a global expression', and(pattern(/b/g), pattern(/b/g)), 'ab', yes],
  ['similarity of equals', similarity('abc'), 'abc', yes],
  ['similarity of strangers', similarity('abc'), 'xyz', no],
  ['equals', equals({ a: [1] }), { a: [1] }, yes],
  ['equals, another order of keys', equals({ a: 1, b: 2 }), { b: 2, a: 1 }, yes],
  ['isDefined', isDefined(), null, no],
  ['isTrue', isTrue(), 'true', no],
  ['isFalse', isFalse(), false, yes],
  ['satisfies', satisfies((n: number) => n > 2), 3, yes],
  ['satisfies, later', satisfies(async (n: number) => n > 2), 1, no],
  ['satisfies that throws', satisfies(() => JSON.parse('{')), 1, unknown],
  ['satisfies that rejects', satisfies(() => Promise.reject(new Error('no'))), 1, unknown],
  ['matches', matches(z.object({ a: z.number() })), { a: 1 }, yes],
  ['matches, asynchronous', matches(z.string().refine(async (text) => text === 'a')), 'b', no],
  ['jsonMatch of a part', jsonMatch({ a: { b: /^x/ } }), { a: { b: 'xy', c: 1 }, d: 2 }, yes],
  ['jsonMatch of a list', jsonMatch([1, isDefined()]), [1, 2], yes],
  ['jsonMatch of a shorter list', jsonMatch([1, 2]), [1], no],
  ['jsonMatch without the field', jsonMatch({ a: 1 }), {}, no],
  ['jsonMatch of an inherited field', jsonMatch({ toString: isDefined() }), {}, no],
  ['toolMatch', toolMatch('shell', { input: { command: /ls/ } }), shell('ls'), yes],
  ['toolMatch of another tool', toolMatch('read'), shell('ls'), no],
  ['toolMatch with an output nobody saw', toolMatch('shell', { output: /x/ }), shell('ls'), unknown],
  [
    'toolMatch with a status nobody saw',
    toolMatch('shell', { status: 'failed' }),
    shell('ls', { status: 'pending' }),
    unknown,
  ],
  [
    'toolMatch: a mismatch decides',
    toolMatch('shell', { input: { command: 'x' }, output: /x/ }),
    shell('ls'),
    no,
  ],
  ['commandMatch', commandMatch('npm', { argsStart: ['test'] }), shell('cd a && npm test -- b'), yes],
  [
    'commandMatch in a login shell',
    commandMatch('rm', { args: ['-rf'] }),
    shell(['bash', '-lc', 'ls; sudo rm -v -rf x']),
    yes,
  ],
  ['commandMatch of quoted text', commandMatch('rm'), shell('echo "rm x"'), no],
  ['commandMatch of what only the shell knows', commandMatch('rm'), shell('$DO x'), unknown],
  [
    'commandMatch of an argument only the shell knows',
    commandMatch('rm', { args: ['x'] }),
    shell('rm "$F"'),
    unknown,
  ],
  ['commandMatch: a certain match decides', commandMatch('rm'), shell('$DO x; rm y'), yes],
  ['commandMatch of no command', commandMatch('rm'), { ...shell('rm'), name: 'read' }, no],
  [
    'referencesAnyPath of a tool',
    referencesAnyPath(['src/*.ts']),
    { ...shell(''), name: 'read', input: { path: '/w/src/a.ts' } },
    yes,
  ],
  ['referencesAnyPath of a command', referencesAnyPath(['.env']), shell('cat < ./.env'), yes],
  ['referencesAnyPath of another', referencesAnyPath(['.env']), shell('cat .envrc'), no],
  ['referencesAnyPath by a glob of the shell', referencesAnyPath(['secret/key']), shell('cat secret/*'), yes],
  ['referencesAnyPath by a variable', referencesAnyPath(['.env']), shell('cat $f'), unknown],
  [
    'referencesAnyPath by a variable with another end',
    referencesAnyPath(['.env']),
    shell('cat $HOME/x.txt $?'),
    no,
  ],
  ['commandSucceeded', commandSucceeded(), { exitCode: 0, stdout: '', stderr: '' }, yes],
  ['commandSucceeded of a failure', commandSucceeded(), { exitCode: 2, stderr: 'no such file' }, no],
  ['commandSucceeded of a call', commandSucceeded(), shell('x', { output: { exit_code: 1 } }), no],
  ['commandSucceeded of nothing', commandSucceeded(), undefined, unknown],
  ['a scorer', scored(() => ({ name: 'Half', score: 0.5 }), {}), 'x', yes],
  ['a scorer below', scored(async () => ({ score: 0.4 }), {}), 'x', no],
  ['a scorer that skips', scored(() => ({ score: null }), {}), 'x', unknown],
  [
    'a scorer that throws',
    scored(() => {
      throw new Error('no key');
    }, {}),
    'x',
    unknown,
  ],
])('%s', async (_, matcher, value, { status }) => {
  expect(await statusOf(matcher, value)).toBe(status);
});

test('a scorer gets the output and its other arguments', async () => {
  const scorer = ({ output, expected }: { output: string; expected: string }) => ({
    name: 'Same',
    score: output === expected ? 1 : 0,
  });
  expect(await scored(scorer, { expected: 'a' }).match('a')).toMatchObject({ status: 'matched', score: 1 });
});

describe('three-valued logic', () => {
  const statuses = ['matched', 'mismatched', 'unavailable'] as const;
  const always = (status: Match['status'], isLater = false): Matcher<unknown> => ({
    label: status,
    match: () => (isLater ? Promise.resolve({ status, reason: status }) : { status, reason: status }),
  });
  const rank = { mismatched: 0, unavailable: 1, matched: 2 };
  const status = fc.constantFrom(...statuses);

  test('and is the lowest, or the highest of mismatched < unavailable < matched', () => {
    fc.assert(
      fc.property(fc.array(status, { minLength: 1, maxLength: 5 }), (all) => {
        const ranks = all.map((one) => rank[one]);
        const [low, high] = [Math.min(...ranks), Math.max(...ranks)];
        const matchers = all.map((one) => always(one));
        expect(rank[(and(...matchers).match(0) as Match).status]).toBe(low);
        expect(rank[(or(...matchers).match(0) as Match).status]).toBe(high);
      }),
    );
  });

  test('De Morgan: not(and) is or of not, at once and later', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(status, fc.boolean()), { maxLength: 4 }), async (all) => {
        const matchers = all.map(([one, isLater]) => always(one, isLater));
        const left = await not(and(...matchers)).match(0);
        const right = await or(...matchers.map((matcher) => not(matcher))).match(0);
        expect(left.status).toBe(right.status);
      }),
    );
  });

  test('not(not(matcher)) is the matcher', () => {
    const matcher = similarity('abc');
    expect(not(not(matcher))).toBe(matcher);
    expect(not(not(not(matcher))).label).toBe('not(similarity("abc"))');
    const { status: opposite, score } = not(matcher).match('abd') as Match;
    expect({ opposite, score }).toEqual({ opposite: 'matched', score: expect.closeTo(1 / 3) });
  });

  test('an order of the parts that differs gives the same status', () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 5 }), (all) => {
        const [one, other] = [all, all.toReversed()].map((order) =>
          [and, or].map((join) => (join(...order.map((each) => always(each))).match(0) as Match).status),
        );
        expect(one).toEqual(other);
      }),
    );
  });
});
