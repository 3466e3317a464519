import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';

/** Edits a file that something is mounted on, where nobody else sees the mount. */
const program = `
  const { LocalExecutionEnvironment } = await import(process.env.LOCAL_ENVIRONMENT);
  const { replaceFile } = await import(process.env.CHANGE_FILES);
  const environment = new LocalExecutionEnvironment();
  await replaceFile(environment, 'mounted', Buffer.from('two'), Buffer.from('one'));
  await environment.cleanup();
`;

test('a file that is itself a mount is edited, and nothing is left beside it', {
  tags: ['root', 'linux'],
}, async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('source'), 'one');
  await writeFile(place.path('mounted'), 'below');
  const script = `mount --bind source mounted && "$0" --input-type=module -e "$1" && cat source mounted && ls`;
  const output = execFileSync('unshare', ['--mount', 'sh', '-c', script, process.execPath, program], {
    cwd: place.directory,
    encoding: 'utf8',
    env: {
      ...process.env,
      LOCAL_ENVIRONMENT: import.meta.resolve('../environment/local-environment.ts'),
      CHANGE_FILES: import.meta.resolve('./change-files.ts'),
    },
  });
  expect(output).toBe('twotwomounted\nsource\n');
});
