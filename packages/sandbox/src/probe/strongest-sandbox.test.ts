import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasBubblewrap } from '../__fixtures__/has-bubblewrap.ts';
import { strongestSandbox } from './strongest-sandbox.ts';

let scratch: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'strongest-test-'));
});
afterEach(() => rm(scratch, { recursive: true, force: true }));

test.runIf(hasBubblewrap)(
  'a sandbox in which an attack comes through is not the strongest',
  { tags: 'bubblewrap' },
  async () => {
    const sealed = await strongestSandbox({ scratch });
    expect(sealed).toMatchObject({ provider: 'bubblewrap', reasons: [] });
    expect(sealed.probes?.every(({ reached }) => !reached)).toBe(true);
    // Every command sees the programs of the system.
    expect(await strongestSandbox({ scratch, kept: ['/usr/bin/env'] })).toEqual({
      provider: 'process',
      reasons: [
        'The sandbox bubblewrap does not hold here. A command could read the run directory, the hidden tests or the trees of the cases.',
      ],
    });
  },
);
