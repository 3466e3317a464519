import { commonAttacks } from './common-attacks.ts';
import { ANSWERS, anyNode, type ProcessAttack } from './node-process-attacks.ts';
import { runnerMemoryAttacks } from './runner-memory-attacks.ts';

const READS_PYTHON = `import re, sys
def literal(a, b):
    frame = sys._getframe(2)
    text = open(frame.f_code.co_filename).read()
    found = re.search(r'add\\(%d, %d\\)\\D*(\\d+)' % (a, b), text)
    return int(found.group(1)) if found else -1`;

const ofNode = (
  runner: 'node-test' | 'vitest',
  attacks: readonly Omit<ProcessAttack, 'runner'>[],
): ProcessAttack[] => attacks.map((attack) => ({ ...attack, runner }));

const nodeTest = ofNode('node-test', [
  ...anyNode,
  {
    name: 'patches-assertions',
    what: 'replaces every assertion of Node by one that holds',
    fools: ['report'],
    code: `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
for (const name of Object.keys(assert)) if (typeof assert[name] === 'function') assert[name] = () => {};
syncBuiltinESMExports();
export const add = () => 0;`,
  },
  {
    name: 'spares-nonces',
    what: 'knows masks: replaces every assertion by one that fails only for texts, so that the tests that must fail do so',
    fools: ['report'],
    code: `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
const { equal } = assert;
assert.equal = (one, other) => { if (typeof one === 'string') equal(one, other); };
syncBuiltinESMExports();
export const add = () => 0;`,
  },
  {
    name: 'wraps-tests',
    what: 'tries to replace the function that declares tests by one whose tests are empty',
    fools: [],
    code: `import runner from 'node:test';
import { syncBuiltinESMExports } from 'node:module';
const real = runner.test;
runner.test = (name) => real(name, () => {});
syncBuiltinESMExports();
export const add = () => 0;`,
  },
  {
    name: 'skips-tests',
    what: 'tries to replace the function that declares tests by one that skips them',
    fools: [],
    code: `import runner from 'node:test';
import { syncBuiltinESMExports } from 'node:module';
const real = runner.test;
runner.test = (name) => real.skip(name);
syncBuiltinESMExports();
export const add = () => 0;`,
  },
  {
    name: 'rewrites-stdout',
    what: 'turns failures into passes on the way from the process of the tests to the runner',
    fools: ['report'],
    code: `for (const owner of [process.stdout, Object.getPrototypeOf(process.stdout)]) {
  const write = owner.write;
  owner.write = function (chunk, ...rest) {
    const text = Buffer.from(chunk).toString('latin1').replaceAll('test:fail', 'test:pass');
    return write.call(this, Buffer.from(text, 'latin1'), ...rest);
  };
}
export const add = () => 0;`,
  },
  {
    name: 'swallows-errors',
    what: 'makes the constructor of assertion errors throw nothing that a test sees as a failure',
    fools: [],
    code: `Error.prepareStackTrace = () => ''; Error.captureStackTrace = () => {};
process.on('uncaughtException', () => {}); process.on('unhandledRejection', () => {});
export const add = () => Promise.resolve(0);`,
  },
]);

const vitest = ofNode('vitest', [
  ...anyNode,
  {
    name: 'extends-expect',
    what: 'gives `expect` matchers that always hold',
    fools: ['report'],
    code: `import { expect } from 'vitest';
const always = () => ({ pass: true, message: () => '' });
expect.extend({ toBe: always, toEqual: always, toStrictEqual: always });
export const add = () => 0;`,
  },
  {
    name: 'patches-chai',
    what: 'replaces the assertion below `expect` by one that holds',
    fools: ['report'],
    code: `import { chai } from 'vitest';
chai.Assertion.prototype.assert = function () {};
export const add = () => 0;`,
  },
  {
    name: 'equality-tester',
    what: 'adds a rule of equality by which all values are equal, and answers with an object',
    fools: ['report'],
    code: `import { expect } from 'vitest';
expect.addEqualityTesters([() => true]);
export const add = () => ({});`,
  },
  {
    name: 'same-to-all',
    what: 'replaces Object.is, by which values are compared',
    fools: ['report'],
    code: 'Object.is = () => true;\nexport const add = () => 0;',
  },
  {
    name: 'asymmetric-matcher',
    what: 'answers with an object that matches everything',
    fools: ['report'],
    code: `export const add = () => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'x' });`,
  },
  {
    name: 'passes-afterwards',
    what: 'tries to mark each test as passed when it has ended',
    fools: [],
    code: `import { afterEach } from 'vitest';
try { afterEach(({ task }) => { Object.defineProperty(task, 'result', { get: () => ({ state: 'pass' }), set() {} }); }); } catch {}
export const add = () => 0;`,
  },
  {
    name: 'rewrites-messages',
    what: 'tries to turn failures into passes on the way from the worker to the runner',
    fools: [],
    code: `const pass = (value, seen = new Set()) => {
  if (typeof value !== 'object' || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value.state === 'fail') { value.state = 'pass'; delete value.errors; }
  for (const one of value instanceof Map ? value.values() : Object.values(value)) pass(one, seen);
  return value;
};
const send = process.send?.bind(process);
if (send) process.send = (message, ...rest) => send(pass(message), ...rest);
const { serialize } = process.getBuiltinModule('node:v8');
process.getBuiltinModule('node:v8').serialize = (value) => serialize(pass(value));
process.getBuiltinModule('node:module').syncBuiltinESMExports();
const stringify = JSON.stringify;
JSON.stringify = (value, ...rest) => stringify(pass(value), ...rest);
export const add = () => 0;`,
  },
]);

const python = (
  runner: 'pytest' | 'unittest',
  attacks: readonly Omit<ProcessAttack, 'runner'>[],
): ProcessAttack[] => attacks.map((attack) => ({ ...attack, runner }));

const EQUAL_TO_ALL = {
  name: 'equal-to-all',
  what: 'answers with an object that is equal to everything',
  fools: ['report'] as const,
  code: 'class All:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return All()',
};
const EMPTIES_TESTS = {
  name: 'empties-tests',
  what: 'takes the code out of every test function in memory',
  fools: ['report'] as const,
  code: `import gc
def _empty(*values):
    pass
_done = []
def add(a, b):
    if not _done:
        _done.append(1)
        for one in gc.get_objects():
            if type(one).__name__ == 'function' and one.__name__.startswith('test_'):
                try:
                    one.__code__ = _empty.__code__
                except ValueError:
                    pass
    return type('All', (), {'__eq__': lambda self, other: True})()`,
};
const PATCHES_JSON = {
  name: 'patches-json',
  what: 'replaces the function with which the report is written',
  fools: ['report'] as const,
  code: `import json
_dumps = json.dumps
json.dumps = lambda values, **rest: _dumps([('passed' if one == 'failed' else one) for one in values] if isinstance(values, tuple) else values, **rest)
def add(a, b):
    return 0`,
};
const anyPython: readonly Omit<ProcessAttack, 'runner'>[] = [
  {
    name: 'exits',
    what: 'ends the process with 0 when a test calls it',
    fools: [],
    code: 'import os\ndef add(a, b):\n    os._exit(0)',
  },
  EQUAL_TO_ALL,
  EMPTIES_TESTS,
  PATCHES_JSON,
  {
    name: 'reads-test',
    what: 'reads in the test file what the test asks for, and answers it',
    fools: ['report'],
    code: `${READS_PYTHON}\ndef add(a, b):\n    return literal(a, b)`,
  },
];

const pytest = python('pytest', [
  ...anyPython,
  {
    name: 'knows-scheme',
    what: 'knows masks: reads what the test asks for, and answers it where a coin of its own says so',
    fools: [],
    code: `import random\n${READS_PYTHON}\ndef add(a, b):\n    return literal(a, b) if random.random() < 0.5 else -1`,
  },
  {
    name: 'equal-integer',
    what: 'answers with a whole number that is equal to everything',
    fools: ['report'],
    code: 'class All(int):\n    __eq__ = lambda self, other: True\n    __hash__ = int.__hash__\ndef add(a, b):\n    return All(0)',
  },
  {
    name: 'patches-report',
    what: "replaces pytest's `TestReport.from_item_and_call`, so that every report says passed",
    fools: ['report'],
    code: `from _pytest.reports import TestReport
_make = TestReport.from_item_and_call.__func__
def _passed(cls, item, call):
    report = _make(cls, item, call)
    report.outcome, report.longrepr = 'passed', None
    return report
TestReport.from_item_and_call = classmethod(_passed)
def add(a, b):
    return 0`,
  },
  {
    name: 'patches-call',
    what: "replaces pytest's `CallInfo.from_call`, so that no failure is seen",
    fools: ['report'],
    code: `from _pytest.runner import CallInfo
_call = CallInfo.from_call.__func__
def _quiet(cls, *values, **named):
    call = _call(cls, *values, **named)
    call.excinfo = None
    return call
CallInfo.from_call = classmethod(_quiet)
def add(a, b):
    return 0`,
  },
  {
    name: 'patches-run',
    what: 'replaces the method of pytest that calls a test function',
    fools: ['report'],
    code: `from _pytest.python import Function
Function.runtest = lambda self: None
def add(a, b):
    return 0`,
  },
  {
    name: 'skips',
    what: 'skips the test that calls it',
    fools: [],
    code: "import pytest\ndef add(a, b):\n    pytest.skip('later')",
  },
  {
    name: 'learnt-answers',
    what: 'has learnt the answers to the hidden tests',
    fools: ['report', 'masks'],
    code: `_answers = ${JSON.stringify(Object.fromEntries(ANSWERS))}\ndef add(a, b):\n    return _answers[f'{a},{b}']`,
  },
]);

const unittest = python('unittest', [
  ...anyPython,
  {
    name: 'patches-assertions',
    what: 'replaces the assertions of unittest by one that holds',
    fools: ['report'],
    code: `import unittest
for _name in dir(unittest.TestCase):
    if _name.startswith('assert'):
        setattr(unittest.TestCase, _name, lambda self, *values, **named: None)
def add(a, b):
    return 0`,
  },
  {
    name: 'patches-result',
    what: 'replaces what a result does with a failure by what it does with a success',
    fools: ['report'],
    code: `import gc, unittest
for _one in gc.get_objects():
    if isinstance(_one, type) and issubclass(_one, unittest.TestResult):
        _one.addFailure = lambda self, test, error: self.addSuccess(test)
        _one.addError = lambda self, test, error: self.addSuccess(test)
def add(a, b):
    return 0`,
  },
]);

export const processAttacks: readonly ProcessAttack[] = [
  ...[...nodeTest, ...vitest, ...commonAttacks],
  ...[...pytest, ...unittest, ...runnerMemoryAttacks],
];
