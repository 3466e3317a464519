import { anyNode, type ProcessAttack } from './node-process-attacks.ts';

/** Attacks of modules as a file of CommonJS has them. */
const common = (code: string): string => code.replace(/^export const (\w+) = /gm, 'exports.$1 = ');

const ofRunner = (
  runner: 'jest' | 'mocha',
  attacks: readonly Omit<ProcessAttack, 'runner'>[],
): ProcessAttack[] => attacks.map((attack) => ({ ...attack, runner, code: common(attack.code) }));

const jest = ofRunner('jest', [
  ...anyNode,
  {
    name: 'extends-expect',
    what: 'gives `expect` matchers that always hold',
    fools: ['report'],
    code: `const always = () => ({ pass: true, message: () => '' });
expect.extend({ toBe: always, toEqual: always, toStrictEqual: always });
exports.add = () => 0;`,
  },
  {
    name: 'replaces-expect',
    what: 'replaces `expect` by a function whose matchers do nothing',
    fools: ['report'],
    code: 'globalThis.expect = () => ({ toBe() {}, toEqual() {} });\nexports.add = () => 0;',
  },
  {
    name: 'same-to-all',
    what: 'replaces Object.is, by which values are compared, and answers with an object that matches everything',
    fools: ['report'],
    code: `Object.is = () => true;
exports.add = () => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true, toString: () => 'x' });`,
  },
  {
    name: 'wraps-tests',
    what: 'replaces the function that declares tests by one whose tests are empty',
    fools: ['report'],
    code: 'const real = globalThis.test;\nglobalThis.test = (name) => real(name, () => {});\nexports.add = () => 0;',
  },
  {
    name: 'skips-tests',
    what: 'replaces the function that declares tests by one that skips them',
    fools: [],
    code: 'const real = globalThis.test;\nglobalThis.test = (name) => real.skip(name, () => {});\nexports.add = () => 0;',
  },
  {
    name: 'clears-errors',
    what: 'takes the errors of each test out of the memory of Jest when it has ended',
    fools: ['report'],
    code: `const states = Object.getOwnPropertySymbols(globalThis).map((one) => globalThis[one]);
const state = states.find((one) => one && typeof one === 'object' && 'currentlyRunningTest' in one);
afterEach(() => { state.currentlyRunningTest.errors.length = 0; });
exports.add = () => 0;`,
  },
]);

const mocha = ofRunner('mocha', [
  ...anyNode,
  {
    name: 'patches-assertions',
    what: 'replaces every assertion of Node by one that holds',
    fools: ['report'],
    code: `const assert = require('node:assert/strict');
for (const name of Object.keys(assert)) if (typeof assert[name] === 'function') assert[name] = () => {};
require('node:module').syncBuiltinESMExports();
exports.add = () => 0;`,
  },
  {
    name: 'wraps-tests',
    what: 'replaces the function that declares tests by one whose tests are empty',
    fools: ['report'],
    code: 'const real = globalThis.it;\nglobalThis.it = (name) => real(name, () => {});\nexports.add = () => 0;',
  },
  {
    name: 'skips-tests',
    what: 'replaces the function that declares tests by one that skips them',
    fools: [],
    code: 'const real = globalThis.it;\nglobalThis.it = (name) => real.skip(name);\nexports.add = () => 0;',
  },
  {
    name: 'passes-failures',
    what: 'replaces what Mocha does with a failure by what it does with a success',
    fools: ['report'],
    code: `const { EventEmitter } = require('node:events');
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (name, test, ...rest) {
  if (name !== 'fail') return emit.call(this, name, test, ...rest);
  test.state = 'passed';
  return emit.call(this, 'pass', test);
};
exports.add = () => 0;`,
  },
  {
    name: 'runs-nothing',
    what: 'replaces the method of Mocha that runs the function of a test',
    fools: ['report'],
    code: `beforeEach(function () {
  const runnable = Object.getPrototypeOf(Object.getPrototypeOf(this.currentTest));
  runnable.run = function (done) { this.duration = 0; done(); };
});
exports.add = () => 0;`,
  },
]);

/** Against tests of Jest and Mocha. */
export const commonAttacks: readonly ProcessAttack[] = [...jest, ...mocha];
