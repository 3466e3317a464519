import { execFileSync } from 'node:child_process';
import { chmod, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineAgent, openSession } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { createWorkspace } from './testkit.ts';

test('a workspace is a repository of its own, and is gone afterwards', async () => {
  const workspace = await createWorkspace({ files: { 'bin/run': { content: '#!/bin/sh\n', mode: 0o755 } } });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: workspace.folder, encoding: 'utf8' }).trim();
  expect(git('rev-parse', '--show-toplevel')).toBe(workspace.folder);
  expect(git('status', '--porcelain')).toBe('');
  expect((await stat(join(workspace.folder, 'bin/run'))).mode & 0o777).toBe(0o755);
  await expect(workspace.write({ '../escape.txt': '' })).rejects.toThrow('not a file of the workspace');
  await chmod(join(workspace.folder, 'bin'), 0o000);
  await workspace[Symbol.asyncDispose]();
  await expect(stat(workspace.folder)).rejects.toThrow('ENOENT');
});

test('exactly the changes that happened are expected, and every trap leads outside', async () => {
  await using workspace = await createWorkspace({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' }, git: false });
  const before = await workspace.snapshot();
  await writeFile(join(workspace.folder, 'a.txt'), 'A\n');
  await unlink(join(workspace.folder, 'b.txt'));
  await workspace.expectChanges(before, ['modified a.txt', 'deleted b.txt']);
  await expect(workspace.expectChanges(before, ['modified a.txt'])).rejects.toMatchObject({
    actual: ['deleted b.txt', 'modified a.txt'],
  });

  for (const [name, path] of Object.entries(await workspace.addTraps())) {
    const start = await workspace.snapshot();
    await writeFile(path.startsWith('/') ? path : join(workspace.folder, path), name);
    const { outside } = await workspace.snapshot();
    expect(outside, name).not.toEqual(start.outside);
    await expect(workspace.expectChanges(start, []), name).rejects.toThrow('not the expected ones');
  }
  expect(await readFile(join(workspace.outside, 'precious.txt'), 'utf8')).toBe('hardLink');
});

test.each<[what: string, act: (folder: string) => Promise<void>, listed: string]>([
  ['a byte', (folder) => writeFile(join(folder, 'README.md'), 'x'), 'README.md (modified)'],
  ['a mode', (folder) => chmod(join(folder, 'README.md'), 0o700), 'README.md (modified)'],
  ['a link', (folder) => symlink('README.md', join(folder, 'link')), 'link (added)'],
  [
    'a hook',
    (folder) => writeFile(join(folder, '.git/hooks/pre-commit'), 'x'),
    '.git/hooks/pre-commit (added)',
  ],
  ['a missing file', (folder) => unlink(join(folder, 'README.md')), 'README.md (deleted)'],
])('without side effects %s fails the turn', async (_, act, listed) => {
  await using workspace = await createWorkspace();
  const agent = defineAgent({
    name: 'meddler',
    async send() {
      await act(workspace.folder);
      return { events: [], status: 'completed' };
    },
  });
  await using session = await openSession(agent, { folder: workspace.folder, sideEffects: 'none' });
  const turn = await session.send('Only look.');
  expect(turn.status).toBe('failed');
  expect(turn.exit?.message).toBe(`The workspace changed, although side effects are not allowed: ${listed}.`);
  expect(turn.events.map(({ type }) => type)).toEqual(['file.changed', 'error']);
});

test('without side effects a turn that only reads completes, also if it asks Git for the status', async () => {
  await using workspace = await createWorkspace();
  const agent = defineAgent({
    name: 'reader',
    async send() {
      execFileSync('touch', ['-d', '2001-01-01', 'README.md'], { cwd: workspace.folder });
      execFileSync('git', ['status'], { cwd: workspace.folder });
      return { events: [], status: 'completed' };
    },
  });
  await using session = await openSession(agent, { folder: workspace.folder, sideEffects: 'none' });
  expect((await session.send('Only look.')).status).toBe('completed');
});
