import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

test('a program that fails is an error with what it said', async () => {
  await runProgram('sh', ['-c', 'test "$A" = b && echo said'], {
    PATH: process.env.PATH,
    A: 'b',
    C: undefined,
  });
  const error = await runProgram('sh', ['-c', 'echo No space left on device >&2; exit 3']).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ exitCode: 3, stderr: 'No space left on device\n' });
  expect(String(error)).toContain('No space left on device');
  await expect(runProgram('no-such-program-here', [])).rejects.toMatchObject({ code: 'ENOENT' });
});
