import type { ProcessAttack } from './node-process-attacks.ts';

type OfRunner = Omit<ProcessAttack, 'runner'>;
const of = (runner: ProcessAttack['runner'], attacks: readonly OfRunner[]): ProcessAttack[] =>
  attacks.map((attack) => ({ ...attack, runner }));

/** In the process that writes the report: every failure in it becomes a success on the way to the file. */
const REWRITES_FILE = `const passed = (text) => String(text)
  .replaceAll('"status":"failed"', '"status":"passed"').replace(/"failureMessages":\\[[^\\]]*\\]/g, '"failureMessages":[]');
const both = (text) => {
  try {
    const report = JSON.parse(text);
    report.passes = report.tests.map((one) => ({ ...one, err: {} }));
    report.failures = [];
    return JSON.stringify(report);
  } catch { return passed(text); }
};
for (const owner of [fs, fs.promises])
  for (const name of ['writeFileSync', 'writeFile']) {
    const real = owner[name];
    if (real) owner[name] = function (file, text, ...rest) {
      return real.call(this, file, typeof text === 'string' ? both(text) : text, ...rest);
    };
  }`;

const nodeTest = of('node-test', [
  {
    name: 'debugs-itself',
    what: 'attaches a debugger to its own process, and lets it step over every assertion',
    fools: ['report'],
    code: `import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
const session = new Session();
session.connect();
session.post('Debugger.enable');
session.post('Runtime.enable');
globalThis.__assert = assert;
session.post('Runtime.evaluate', { expression: "for (const name of Object.keys(__assert)) if (typeof __assert[name] === 'function') __assert[name] = () => {};" });
process.getBuiltinModule('node:module').syncBuiltinESMExports();
export const add = () => 0;`,
  },
  {
    name: 'prints-results',
    what: 'writes results of its own to the output from which the runner takes those of the tests',
    fools: ['report'],
    code: `import { writeSync } from 'node:fs';
import { serialize } from 'node:v8';
const file = process.argv[1];
for (let one = 0; one < 24; one += 1) {
  const body = serialize({ type: 'test:pass', data: { name: 'adds ' + one, nesting: 0, testNumber: one + 1, details: { duration_ms: 1, type: 'test' }, line: 1, column: 1, file } });
  const head = Buffer.alloc(4); head.writeUInt32BE(body.length);
  writeSync(1, Buffer.concat([Buffer.from([0xff, 0x0f]), head, body]));
}
export const add = () => process.exit(0);`,
  },
]);

const vitest = of('vitest', [
  {
    name: 'rewrites-updates',
    what: 'replaces the channel on which the worker tells the runner what its tests gave',
    fools: ['report'],
    code: `const worker = globalThis.__vitest_worker__;
const pass = (value, seen = new Set()) => {
  if (typeof value !== 'object' || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value.state === 'fail') { value.state = 'pass'; delete value.errors; }
  for (const one of value instanceof Map ? value.values() : Object.values(value)) pass(one, seen);
  return value;
};
const rpc = worker.rpc;
worker.rpc = new Proxy(rpc, { get: (target, key) => {
  const real = target[key];
  if (typeof real !== 'function') return real;
  return Object.assign((...values) => real(...values.map((one) => pass(one))), real);
} });
export const add = () => 0;`,
  },
  {
    name: 'edits-tasks',
    what: 'tries to give each test in the memory of the worker a result that cannot be changed',
    fools: [],
    code: `import { beforeEach } from 'vitest';
const state = () => ({ state: 'pass', startTime: 0, duration: 0, retryCount: 0, repeatCount: 0 });
beforeEach(({ task }) => {
  for (const one of task.file.tasks)
    Object.defineProperty(one, 'result', { get: state, set() {}, configurable: true });
});
export const add = () => 0;`,
  },
]);

const jest = of('jest', [
  {
    name: 'rewrites-file',
    what: 'tries to replace the functions of Node that write files, so that the report has no failure',
    fools: [],
    code: `const fs = require('node:fs');\n${REWRITES_FILE}\nexports.add = () => 0;`,
  },
  {
    name: 'renames-events',
    what: 'turns the events of failed tests into those of passed ones in the memory of Jest',
    fools: ['report'],
    code: `for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  const handlers = globalThis[symbol];
  if (!Array.isArray(handlers)) continue;
  for (const [index, real] of handlers.entries())
    if (typeof real === 'function') handlers[index] = (event, state) => real(event.name === 'test_fn_failure' ? { name: 'test_fn_success', test: event.test } : event, state);
}
exports.add = () => 0;`,
  },
]);

const mocha = of('mocha', [
  {
    name: 'rewrites-file',
    what: 'tries to replace the functions of Node that write files, so that the report has no failure',
    fools: [],
    code: `const fs = require('node:fs');\n${REWRITES_FILE}\nexports.add = () => 0;`,
  },
  {
    name: 'rewrites-report',
    what: 'replaces the function that makes the text of the report by one that leaves out failures',
    fools: ['report'],
    code: `const { stringify } = JSON;
JSON.stringify = (report, ...rest) => {
  const { passes, failures, pending } = report ?? {};
  return stringify(failures ? { passes: [...passes, ...failures], failures: [], pending } : report, ...rest);
};
exports.add = () => 0;`,
  },
  {
    name: 'no-throw',
    what: 'replaces the function of every test in memory by one that catches what it throws',
    fools: ['report'],
    code: `before(function () {
  let root = this.test.parent;
  while (root.parent) root = root.parent;
  root.eachTest((test) => { const real = test.fn; test.fn = function () { try { return real.call(this); } catch {} }; });
});
exports.add = () => 0;`,
  },
]);

const pytest = of('pytest', [
  {
    name: 'registers-plugin',
    what: 'finds the plugin manager of pytest in memory, and registers a plugin that says passed',
    fools: ['report'],
    code: `import gc, pytest
class _Says:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = 'passed', None
for _one in gc.get_objects():
    if type(_one).__name__ == 'PytestPluginManager':
        _one.register(_Says())
def add(a, b):
    return 0`,
  },
  {
    name: 'rewrites-constants',
    what: 'replaces in the code of the test that calls it what the test asks for by what it answers',
    fools: ['report'],
    code: `import sys
def add(a, b):
    frame = sys._getframe(1)
    said = [one for one in frame.f_code.co_consts if isinstance(one, int)]
    return said[-1]`,
  },
  {
    name: 'traces-calls',
    what: 'follows each test with a tracer, and leaves out the lines after its call',
    fools: [],
    code: `import sys
def _jump(frame, event, arg):
    if event == 'line' and frame.f_code.co_name.startswith('test_'):
        try:
            frame.f_lineno = frame.f_lineno + 1
        except ValueError:
            pass
    return _jump
sys.settrace(_jump)
def add(a, b):
    raise SystemExit(0)`,
  },
  {
    name: 'ends-session',
    what: 'takes the tests that are left out of the session of pytest',
    fools: [],
    code: `import gc
def add(a, b):
    for one in gc.get_objects():
        if type(one).__name__ == 'Session':
            del one.items[:]
    return 0`,
  },
]);

const unittest = of('unittest', [
  {
    name: 'writes-lines',
    what: 'finds the function that writes the report in memory, and says with it that every test has passed',
    fools: ['report'],
    code: `import gc, sys
_main = sys.modules['__main__']
_real = _main.report
_main.report = lambda test, phase, outcome, *message: _real(test, phase, 'passed')
def add(a, b):
    return 0`,
  },
  {
    name: 'replaces-error',
    what: 'replaces the class of failures by one that its tests never raise',
    fools: ['report'],
    code: `import unittest
class _Never(Exception):
    def __new__(cls, *values):
        return Exception.__new__(cls)
unittest.TestCase.failureException = _Never
unittest.TestCase.fail = lambda self, message=None: None
unittest.TestCase._baseAssertEqual = lambda self, one, other, msg=None: None
def add(a, b):
    return 0`,
  },
  {
    name: 'equal-integer',
    what: 'answers with a whole number that is equal to everything',
    fools: ['report'],
    code: 'class All(int):\n    __eq__ = lambda self, other: True\n    __hash__ = int.__hash__\ndef add(a, b):\n    return All(0)',
  },
  {
    name: 'skips',
    what: 'skips the test that calls it',
    fools: [],
    code: "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('later')",
  },
  {
    name: 'knows-scheme',
    what: 'knows masks: reads what the test asks for, and believes only even numbers',
    fools: [],
    code: `import sys
def add(a, b):
    said = [one for one in sys._getframe(1).f_code.co_consts if isinstance(one, int)][-1]
    return said if said % 2 == 0 else -1`,
  },
]);

/** Against the memory of the process that runs the tests, and against what it writes. */
export const runnerMemoryAttacks: readonly ProcessAttack[] = [
  ...[...nodeTest, ...vitest, ...jest, ...mocha],
  ...[...pytest, ...unittest],
];
