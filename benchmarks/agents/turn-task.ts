/**
 * The turn that is measured, as short as a real one gets: the model runs the tests, looks for the reason, repairs it and
 * runs the tests again.
 */
import { defineScript, type ScriptStep } from '@whetstone/gateway';

export const prompt =
  'A test of this project fails. Find out why, repair the code, and show that all tests pass.';

const WRONG = 'export const total = (amounts) => amounts.reduce((sum, amount) => sum - amount, 0);\n';
const RIGHT = WRONG.replace('sum - amount', 'sum + amount');

/** What the agent starts with. */
export const files: Readonly<Record<string, string>> = {
  'README.md': '# Accounts\n\nTotals of amounts. `node --test` runs the tests.\n',
  'package.json': '{ "name": "accounts", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/total.js': WRONG,
  'test/total.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/total.js';

test('nothing has no total', () => assert.equal(total([]), 0));
test('the total is the sum', () => assert.equal(total([1, 2, 3]), 6));
`,
};

export const finalFiles = { 'src/total.js': RIGHT };

const steps: readonly ScriptStep[] = [
  {
    text: 'I look around, and run the tests.',
    calls: [{ tool: 'shell', command: 'ls -R src test && grep -rn "total" src test && node --test' }],
  },
  { text: 'The sum is negative. I read the code.', calls: [{ tool: 'read', path: 'src/total.js' }] },
  { calls: [{ tool: 'edit', path: 'src/total.js', find: WRONG, replace: RIGHT }] },
  { text: 'I run the tests again.', calls: [{ tool: 'shell', command: 'node --test' }] },
];

/** Five replies, four of them with a tool call. A call that its tool could not read is made again, as a model would. */
export const script = defineScript({
  name: 'repair',
  play: ({ toolResults }) =>
    steps[toolResults.filter(({ output }) => !/\binvalid\b|\bvalidation failed\b/i.test(output)).length] ?? {
      text: 'The total was subtracted. All tests pass now.',
    },
});
