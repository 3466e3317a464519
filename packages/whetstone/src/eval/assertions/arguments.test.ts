import { expect, test } from 'vitest';
import * as surface from '../../expect.ts';
import { story, subjectOf } from './__fixtures__/subject.ts';
import { createAssertions } from './create-assertions.ts';

// An eval is run without a check of its types. `any` stands for what its author may write.
// biome-ignore lint/suspicious/noExplicitAny: the arguments here are wrong on purpose.
type Untyped = any;

const t: Untyped = createAssertions(
  () => subjectOf(story),
  () => undefined,
);
const expectations: Untyped = surface;
const { and, commandMatch, first, matches, not, or, pattern, referencesAnyPath, running } = expectations;
const { satisfies, scored, similarity, toolMatch, isTrue, seeing, calling, includes, lastEdit } =
  expectations;

test.each<[() => unknown, string]>([
  [
    () => t.notEvent('action.call'),
    'notEvent(): "action.call" is not a type of event: did you mean "action.called"?',
  ],
  [() => t.event('tool.call'), '"tool.call" is not a type of event (known: message, action.called,'],
  [
    () => t.eventOrder(['error', 'mesage']),
    'eventOrder(): "mesage" is not a type of event: did you mean "message"?',
  ],
  [() => t.eventOrder([]), 'eventOrder() takes a list that is not empty'],
  [() => t.never.event({ type: 'eror' }), 'event(): "eror" is not a type of event: did you mean "error"?'],
  [
    () => t.notEvent({ type: 'message', txt: /key/ }),
    '"txt" is not a field of message: did you mean "text"?',
  ],
  [
    () => t.notEvent({ type: 'action.result', status: 'complete' }),
    'status: "complete" is not one of its values: did you mean "completed"?',
  ],
  [() => t.notEvent({ tex: /key/ }), 'notEvent(): "tex" is not a field of an event: did you mean "text"?'],
  [() => t.notEvent(/error/), 'notEvent() takes the type of an event'],
  [() => t.notEvent({}), 'notEvent() takes the type of an event'],
  [() => t.event('error', { counts: 2 }), 'event(): "counts" is not one of its keys: did you mean "count"?'],
  [() => t.calledTool('shell', { count: {} }), 'calledTool(): count takes a number, atLeast or atMost'],
  [() => t.calledTool('shell', { count: '2' }), 'count takes an object with atLeast, atMost, and got "2"'],
  [() => t.calledTool('shell', { count: -1 }), 'count takes a whole number from 0, and got -1'],
  [
    () => t.calledTool('shell', { count: { atMost: 1, atLeast: 2 } }),
    'count takes an atLeast that is not above atMost',
  ],
  [
    () => t.calledTool('shell', { inputs: {} }),
    'calledTool(): "inputs" is not one of its keys: did you mean "input"?',
  ],
  [
    () => t.calledTool('shell', { status: 'complete' }),
    'calledTool(): "complete" is not a status: did you mean "completed"?',
  ],
  [() => t.calledTool('shell', /ls/), 'calledTool() takes an object with input, output, status, count'],
  [() => t.notCalledTool('shell', { count: 2 }), 'notCalledTool(): "count" is not one of its keys'],
  [() => t.notCalledTool(undefined), 'notCalledTool() takes the name of a tool'],
  [() => t.notCalledTool(''), 'notCalledTool() takes the name of a tool'],
  [() => t.never.calledTool('shell', { statuss: 'failed' }), '"statuss" is not one of its keys'],
  [() => t.toolOrder([]), 'toolOrder() takes a list that is not empty'],
  [() => t.toolOrder('shell'), 'toolOrder() takes a list that is not empty'],
  [() => t.maxToolCalls('3'), 'maxToolCalls() takes a whole number from 0, and got "3"'],
  [() => t.maxTokens(Number.NaN), 'maxTokens() takes a whole number from 0'],
  [() => t.maxCost(undefined), 'maxCost() takes a number from 0'],
  [() => t.within('3').turns, 'within() takes a whole number from 0'],
  [() => t.loadedSkill(), 'loadedSkill() takes a text that is not empty, or a regular expression'],
  [() => t.calledSubagent('a', { status: 'rejected' }), 'calledSubagent(): "rejected" is not a status'],
  [() => t.calledSubagent('a', { input: {} }), 'calledSubagent(): "input" is not one of its keys'],
  [() => t.eventsSatisfy(() => true), 'eventsSatisfy() takes a label and a function'],
  [() => t.ran(''), 'ran() takes the name of a tool'],
  [() => t.never.read(undefined), 'read() takes a text that is not empty'],
  [() => t.never.edited(''), 'edited() takes a text that is not empty'],
  [() => t.never.said(undefined), 'said() takes a text that is not empty'],
  [() => t.before(lastEdit, undefined), 'before() takes a moment'],
  [() => t.after(running('npm')), 'after() takes a moment'],
  [() => first('edit'), 'first() takes what an agent does'],
  [() => t.fileChanged('a', { state: 'added' }), 'fileChanged(): "state" is not one of its keys'],
  [() => t.fileChanged('a', { status: 'created' }), 'fileChanged(): "created" is not a status'],
  [
    () => t.fileChanged('a', { after: 'text' }),
    'fileChanged() takes matchers, such as `includes(…)`, and got "text"',
  ],
  [() => t.fileChanged(/a/), 'fileChanged() takes a path or glob'],
  [() => t.fileDeleted(''), 'fileDeleted() takes a path or glob'],
  [() => t.diff.changedOnly('src/**'), 'diff.changedOnly() takes a list of globs'],
  [() => t.diff.excludes(undefined), 'diff.excludes() takes a text that is not empty'],
  [
    () => t.noSecretIn('any', 'sk-live-1234567'),
    'noSecretIn() takes a list of secrets, and got "something else"',
  ],
  [() => t.outputMatches({ type: 'object' }), 'matches() takes a schema with Standard Schema'],
  [() => t.check('a', 'a'), 'check() takes a value and a matcher'],
  [
    () => commandMatch('rm', { arg: ['-rf'] }),
    'commandMatch(): "arg" is not one of its keys: did you mean "args"?',
  ],
  [
    () => commandMatch('rm', { args: '-rf' }),
    'commandMatch(): args takes a list of texts or regular expressions',
  ],
  [() => commandMatch(''), 'commandMatch() takes a text that is not empty'],
  [() => toolMatch('shell', { out: 1 }), 'toolMatch(): "out" is not one of its keys'],
  [() => referencesAnyPath('src'), 'referencesAnyPath() takes a list that is not empty'],
  [() => referencesAnyPath([]), 'referencesAnyPath() takes a list that is not empty'],
  [() => pattern('a'), 'pattern() takes a regular expression, and got "a"'],
  [() => similarity('a', { atleast: 1 }), '"atleast" is not one of its keys: did you mean "atLeast"?'],
  [() => similarity('a', { atLeast: 80 }), 'similarity(): atLeast takes a score from 0 to 1, and got 80'],
  [() => scored(() => ({ score: 1 }), { atLeast: 2 }), 'scored(): atLeast takes a score from 0 to 1'],
  [() => scored('Levenshtein', {}), 'scored() takes a scorer, which is a function'],
  [() => satisfies(/a/), 'satisfies() takes a function'],
  [() => isTrue(false), 'isTrue() takes nothing, or a label'],
  [() => not(/a/), 'not() takes matchers'],
  [() => and(includes('a'), 'b'), 'and() takes matchers'],
  [() => or('a', 'b'), 'or() takes matchers'],
  [() => matches(undefined), 'matches() takes a schema'],
  [() => calling('shell', { name: 'x' }), 'calledTool(): "name" is not one of its keys'],
  [() => seeing('errors'), 'event(): "errors" is not a type of event: did you mean "error"?'],
])('an argument that nothing can be done with is refused: %s', (call, message) => {
  expect(call).toThrow(TypeError);
  expect(call).toThrow(message);
});

test('matchers, expressions and parts of events are taken', () => {
  const calls: (() => unknown)[] = [
    () => t.notEvent({ type: /^action\./ }),
    () => t.event({ type: 'approval.decided', by: /user|agent/, turn: 0, source: 'agent' }),
    () => t.event({ text: includes('x') }),
    () => t.event(satisfies(() => true)),
    () => t.calledTool(/shell/, { input: {}, count: { atMost: 0 } }),
    () => t.diff.changedOnly([]),
    () => t.after(lastEdit).never.edited(),
    () => and(),
  ];
  for (const call of calls) expect(call).not.toThrow();
});
