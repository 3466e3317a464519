import { expect, test } from 'vitest';
import { tellingLine } from './run-commands.ts';

test.each([
  [
    'the failure of a runner that colours its lines',
    '\x1b[31mFAIL\x1b[39m a.test.ts\n\x1b[2m 3 passed\x1b[22m\n',
    'FAIL a.test.ts',
  ],
  ['the last line with text, not one with a control sequence only', 'no such key\n\x1b[0m\n', 'no such key'],
])('the evidence of a failed command is %s', (_, stdout, line) => {
  expect(tellingLine({ stdout, stderr: '' })).toBe(` (${line})`);
});
