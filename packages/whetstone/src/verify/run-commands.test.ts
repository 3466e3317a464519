import { expect, test } from 'vitest';
import { lastLines, tellingLine } from './run-commands.ts';

test.each([
  [
    'a runner that colours its lines',
    '\x1b[31mFAIL\x1b[39m a.test.ts\n\x1b[2m 3 passed\x1b[22m\n',
    'FAIL a.test.ts',
  ],
  ['one whose last line is a control sequence only', 'no such key\n\x1b[0m\n', 'no such key'],
  [
    'pip, whose own words around it say only that a program failed',
    `  error: subprocess-exited-with-error

  × pip subprocess to install build dependencies did not run successfully.
  │ exit code: 1
  ╰─> [3 lines of output]
      WARNING: Retrying (Retry(total=0)) after connection broken
      ERROR: Could not find a version that satisfies the requirement flit_core<4,>=3.12
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: subprocess-exited-with-error

× pip subprocess to install build dependencies did not run successfully.
│ exit code: 1
╰─> See above for output.

note: This error originates from a subprocess, and is likely not a problem with pip.

[notice] A new release of pip is available: 23.2.1 -> 26.2.1
[notice] To update, run: pip install --upgrade pip
`,
    'ERROR: Could not find a version that satisfies the requirement flit_core<4,>=3.12',
  ],
  [
    'pnpm',
    ' ERROR  This project is configured to use yarn\nFor help, run: pnpm help install\n',
    'ERROR  This project is configured to use yarn',
  ],
])('the line that names the failure is that of the program that failed: %s', (_, stderr, line) => {
  expect(tellingLine({ stdout: '', stderr })).toBe(` (${line})`);
  expect(lastLines({ stdout: '', stderr }).map((one) => one.trim())).toContain(line);
});

test('the time that a test took is not part of its line, so that the same failure reads the same', () => {
  const tell = (stdout: string) => tellingLine({ stdout, stderr: '' });
  expect(tell('✖ adds (2.125587ms)\n')).toBe(' (✖ adds)');
  expect(tell('FAIL test/add.test.js (5.123 s)\n')).toBe(' (FAIL test/add.test.js)');
  expect(tell('   × src/add.test.ts > adds 12ms\n')).toBe(' (× src/add.test.ts > adds)');
  expect(tell('FAIL: no answer after 5 s\n')).toBe(' (FAIL: no answer after 5 s)');
});
