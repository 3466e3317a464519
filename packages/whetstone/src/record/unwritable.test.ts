import { expect, test } from 'vitest';
import { makeOutputFolder } from './unwritable.ts';

test.runIf(process.platform === 'linux')(
  'an output folder that the system refuses is an error',
  { tags: 'linux' },
  async () => {
    await expect(makeOutputFolder('/proc/x/y', '--out')).rejects.toMatchObject({ code: 'output-unwritable' });
  },
);
