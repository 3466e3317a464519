import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '@whetstone/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineAgent } from '../agent.ts';
import { openSession } from './open-session.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'side-effects-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a file of the folder, without a command. */
const writer = defineAgent({
  name: 'writer',
  capabilities: { conversation: true },
  async send(input, { session }) {
    session.id = 's';
    if (input.text === 'write') await writeFile(join(folder, 'new.txt'), 'x');
    return { status: 'completed', events: [] };
  },
});

/** A sandbox whose commands see the workspace at another path than this machine. */
const elsewhere = {
  ...{ workdir: '/seen/work', home: '/seen/home' },
  hostPath: (path: string) => path.replace('/seen/work', folder),
  readBytes: async () => Promise.reject(new Error('no such file')),
} as unknown as Sandbox;

test.each([
  ['where commands see it at another path', { sandbox: elsewhere }],
  ['without a sandbox', { sandbox: 'none' as const }],
])('a workspace must not change: %s', async (_, place) => {
  await using session = await openSession(writer, { ...place, folder, sideEffects: 'none' });
  expect(await session.send('look')).toMatchObject({ status: 'completed' });
  expect(await session.send('write')).toMatchObject({
    status: 'failed',
    events: [
      { type: 'file.changed', path: 'new.txt', change: 'added' },
      { type: 'error', message: expect.stringContaining('side effects are not allowed') },
    ],
  });
});

test('a workspace that cannot be read is an error, because nobody could see a change', async () => {
  await using session = await openSession(writer, {
    ...{ sandbox: 'none', sideEffects: 'none', folder: join(folder, 'gone') },
  });
  await expect(session.send('look')).rejects.toThrow('ENOENT');
});
