import { constants, tmpdir } from 'node:os';
import { PassThrough, Writable } from 'node:stream';
import { errorTable } from '@whetstone/errors';
import { expect, test } from 'vitest';
import { runCommandLine } from './__fixtures__/command-line.ts';
import { errorsCommand } from './errors.ts';
import { printError } from './print-error.ts';
import type { Streams } from './streams.ts';

function errors(code?: string, options: { json?: boolean } = {}): string {
  let output = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      output += chunk;
      done();
    },
  });
  errorsCommand(code, options, { stdout });
  return output;
}

const entry = { code: 'config-not-found', exit_code: 2, ...errorTable['config-not-found'] };

test('a code is explained, for a person and for a program', () => {
  const text = errors('config-not-found');
  for (const part of ['config-not-found', entry.class, 'exit code 2', entry.meaning, entry.fix])
    expect(text).toContain(part);
  expect(JSON.parse(errors('config-not-found', { json: true }))).toEqual(entry);
});

test('without a code there is one line per code', () => {
  const lines = errors().trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ', 1)[0])).toEqual(Object.keys(errorTable).sort());
  expect(JSON.parse(errors(undefined, { json: true }))).toContainEqual(entry);
});

test.each(['config-notfound', 'CONFIG_NOT_FOUND'])('%s is a usage error with a suggestion', (code) => {
  expect(() => errors(code)).toThrow(
    expect.objectContaining({
      code: 'error-code-unknown',
      exitCode: 2,
      message: expect.stringContaining(code),
      hint: expect.stringContaining('Did you mean config-not-found?'),
    }),
  );
});

test('an error ends with the command that explains it, and --json prints it for a program', async () => {
  const call = { args: ['run', '--json'], cwd: tmpdir(), env: process.env };
  const { exitCode, stdout, stderr } = await runCommandLine(call);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('whetstone errors config-not-found\n');
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: 'config-not-found',
      class: 'usage',
      message: expect.stringContaining(tmpdir()),
      where: null,
      hint: expect.stringContaining('whetstone init'),
      exit_code: 2,
    },
  });
});

test('a limit of the shell is not a defect of Whetstone, and the error says how to raise it', async () => {
  const stderr = new PassThrough({ encoding: 'utf8' });
  const { EMFILE: errno } = constants.errno;
  const thrown = Object.assign(new Error('EMFILE'), {
    ...{ code: 'EMFILE', errno: -errno, syscall: 'open', path: '/repository/README.md' },
  });
  expect(await printError(thrown, { stderr } as unknown as Streams, false)).toBe(2);
  expect(stderr.read()).toBe(
    '/repository/README.md: A limit is reached: too many open files (EMFILE, open).\n' +
      '  Let a process open more files: ulimit -n 4096\n  More: whetstone errors path-refused\n',
  );
});
