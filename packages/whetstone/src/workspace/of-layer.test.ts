import { globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import { makeRepo, makeTempDir, runGit } from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import type { Workspace, Workspaces } from './workspace.ts';

const isThere = strategies.some(({ strategy, missing }) => strategy === 'mount' && !missing);

describe.skipIf(!isThere)('which folders of a mount show the layers below', { tags: 'mounts' }, () => {
  let folders: string[];
  let workspaces: Workspaces;
  let agent: Workspace;

  beforeEach(async () => {
    const file = 'one\n';
    const repo = makeRepo({ 'src/a.js': file, 'src/deep/er/b.js': file, 'lib/deep/er/b.js': 'two\n' });
    const scratch = makeTempDir();
    folders = [repo, scratch];
    workspaces = await createWorkspaces({ repo, scratch, strategy: 'mount' });
    const snapshot = await workspaces.prepare(runGit(repo, ['rev-parse', 'HEAD']).trim(), []);
    // Seen by who reads it.
    for (const below of globSync(join(scratch, 't-*/**/src/deep/er/b.js'))) writeFileSync(below, 'read\n');
    agent = await workspaces.create(snapshot);
  });
  afterEach(async () => {
    await workspaces[Symbol.asyncDispose]();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const changed = async () => (await agent.changes()).files.map(({ path, change }) => `${change} ${path}`);

  test('what nobody touched is not read, beside a file or a folder that somebody did', async () => {
    writeFileSync(join(agent.path, 'src/a.js'), 'mine\n');
    writeFileSync(join(agent.path, 'src/deep/new.js'), 'mine\n');
    expect(await changed()).toEqual(['modified src/a.js', 'added src/deep/new.js']);
  });

  test('a folder that was moved over another one is read', async () => {
    rmSync(join(agent.path, 'src/deep'), { recursive: true });
    renameSync(join(agent.path, 'lib/deep'), join(agent.path, 'src/deep'));
    mkdirSync(join(agent.path, 'src/deep/new'));
    expect(await changed()).toEqual(['deleted lib/deep/er/b.js', 'modified src/deep/er/b.js']);
  });
});
