import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { lstat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { checkRandomSessions } from '../__fixtures__/random-invariants.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';

test('whatever happens, in 10,000 random sessions: requests are valid, events nest, snapshots restore', async () => {
  await using place = await temporaryEnvironment();
  // What the plans call special files.
  execFileSync('mkfifo', [place.path('pipe')]);
  await using server = createServer().listen(place.path('socket'));
  await once(server, 'listening');
  await symlink('/dev/zero', place.path('endless'));
  await symlink('circle', place.path('circle'));

  await checkRandomSessions(10_000, () => place.environment);

  expect((await lstat(place.path('pipe'))).isFIFO()).toBe(true);
  expect((await lstat(place.path('socket'))).isSocket()).toBe(true);
  for (const link of ['endless', 'circle'])
    expect((await lstat(place.path(link))).isSymbolicLink()).toBe(true);
}, 300_000);
