import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import {
  fingerprint,
  makeRepo,
  makeTempDir,
  readTree,
  type TreeSpec,
  writeTree,
} from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import { resolveCommit } from './repository.ts';
import type { Changes, FileChange, Snapshot, Workspace, Workspaces } from './workspace.ts';

const TREE: TreeSpec = {
  'src/app.js': 'app\n',
  'src/lib/deep.js': 'deep\n',
  'test/app.test.js': 'test\n',
  'test/data/one.json': '{}\n',
  'bin/run': { exec: '#!/bin/sh\n' },
};

describe.each(strategies)('writing, over $strategy', { tags: 'mounts' }, ({ strategy, missing }) => {
  let folders: string[] = [];
  let outside: string;
  let workspaces: Workspaces;
  let snapshot: Snapshot;
  let agent: Workspace;
  let clean: Workspace;

  beforeAll(async () => {
    if (missing) return;
    const repo = makeRepo(TREE);
    const scratch = makeTempDir();
    outside = makeTempDir();
    folders = [repo, scratch, outside];
    writeTree(outside, { 'app.js': 'precious\n', 'lib/deep.js': 'precious\n' });
    workspaces = await createWorkspaces({ repo, scratch, strategy });
    snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
  });
  afterAll(async () => {
    await workspaces?.[Symbol.asyncDispose]();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    if (missing) return;
    agent = await workspaces.create(snapshot);
    clean = await workspaces.create(snapshot);
    return async () => {
      await agent[Symbol.asyncDispose]();
      await clean[Symbol.asyncDispose]();
    };
  });

  const inAgent = (path: string) => join(agent.path, path);
  const inClean = (path: string) => join(clean.path, path);

  test.skipIf(missing)('apply leaves what keep refuses at the base, for both paths of a rename', async () => {
    appendFileSync(inAgent('src/app.js'), 'more\n');
    renameSync(inAgent('test/app.test.js'), inAgent('src/moved.test.js'));
    writeFileSync(inAgent('test/extra.js'), 'extra\n');
    rmSync(inAgent('test/data'), { recursive: true });
    chmodSync(inAgent('bin/run'), 0o644);
    const changes = await agent.changes();
    await clean.apply(changes, (path) => !path.startsWith('test/'));
    expect(readTree(clean.path)).toEqual({
      'src/app.js': 'file app\nmore\n',
      'src/lib/deep.js': 'file deep\n',
      'src/moved.test.js': 'file test\n',
      'test/app.test.js': 'file test\n',
      'test/data/one.json': 'file {}\n',
      'bin/run': 'file #!/bin/sh\n',
    });
  });

  test.skipIf(missing)('apply removes folders that became empty, as git does', async () => {
    rmSync(inAgent('test'), { recursive: true });
    mkdirSync(inAgent('test'));
    await clean.apply(await agent.changes());
    expect(existsSync(inClean('test'))).toBe(false);
  });

  test.skipIf(missing)('apply, lay and restore follow no symlink', async () => {
    const hidden = join(outside, 'hidden');
    writeTree(hidden, { 'src/lib/deep.js': 'hidden\n' });
    const before = fingerprint(outside);
    appendFileSync(inAgent('src/lib/deep.js'), 'more\n');
    rmSync(inAgent('src/app.js'));
    const changes = await agent.changes();

    const swap = () => {
      rmSync(inClean('src'), { recursive: true, force: true });
      symlinkSync(outside, inClean('src'));
    };
    swap();
    await clean.apply(changes);
    expect(readTree(clean.path)).toMatchObject({ 'src/lib/deep.js': 'file deep\nmore\n' });
    swap();
    await clean.lay(hidden);
    expect(readTree(clean.path)).toMatchObject({ 'src/lib/deep.js': 'file hidden\n' });
    swap();
    expect(await clean.restore(() => true)).toEqual(['src', 'src/app.js', 'src/lib/deep.js']);
    expect(readTree(clean.path)).toMatchObject({
      'src/app.js': 'file app\n',
      'src/lib/deep.js': 'file deep\n',
    });
    expect((await clean.changes()).files).toEqual([]);
    expect(fingerprint(outside)).toBe(before);
  });

  test.skipIf(missing)('apply refuses paths that leave the tree, before it writes anything', async () => {
    appendFileSync(inAgent('src/app.js'), 'more\n');
    const changes = await agent.changes();
    const [file] = changes.files;
    if (!file) throw new Error('no change');
    for (const bytes of [
      '../escape',
      '/tmp/escape',
      'a/../../escape',
      '.git/hooks/pre-commit',
      'sub/.git/config',
      '',
      'a\0b',
    ]) {
      const hostile: FileChange = { ...file, bytes, path: bytes };
      const forged: Changes = { ...changes, files: [file, hostile] };
      await expect(clean.apply(forged), bytes).rejects.toMatchObject({ code: 'workspace-path-unsafe' });
      const deletion: Changes = { ...changes, files: [{ ...hostile, change: 'deleted' }] };
      await expect(clean.apply(deletion), bytes).rejects.toMatchObject({ code: 'workspace-path-unsafe' });
    }
    expect((await clean.changes()).files).toEqual([]);
  });

  test.skipIf(missing)('lay merges folders, replaces files and keeps symlinks and modes', async () => {
    const hidden = join(outside, 'tests');
    writeTree(hidden, {
      'test/app.test.js': 'the real test\n',
      'test/run': { exec: '#!/bin/sh\n' },
      'test/link': { link: '../src/app.js' },
      'test/\xff': 'bytes\n',
      '.git/config': 'not laid',
    });
    mkdirSync(inClean('test/run'));
    writeFileSync(inClean('test/run/in-the-way'), '');
    await clean.lay(hidden);
    expect(readTree(join(clean.path, 'test'))).toEqual({
      'app.test.js': 'file the real test\n',
      'data/one.json': 'file {}\n',
      run: 'exec #!/bin/sh\n',
      link: 'link ../src/app.js',
      '\xff': 'file bytes\n',
    });
    expect(readFileSync(inClean('.git/config'), 'utf8')).not.toContain('not laid');
    writeFileSync(inClean('test/app.test.js'), 'a masked test\n');
    await clean.lay(hidden, new Set(['test/app.test.js']));
    expect(readFileSync(inClean('test/app.test.js'), 'utf8')).toBe('a masked test\n');
    await expect(clean.lay(join(outside, 'none'))).rejects.toMatchObject({ code: 'overlay-source-missing' });
    await expect(clean.lay(join(outside, 'app.js'))).rejects.toMatchObject({
      code: 'overlay-source-unreadable',
    });
  });

  test.skipIf(missing)(
    'restore restores only what matches, including special files and nested repositories',
    async () => {
      appendFileSync(inClean('src/app.js'), 'kept\n');
      appendFileSync(inClean('test/app.test.js'), 'tampered\n');
      rmSync(inClean('test/data'), { recursive: true });
      writeFileSync(inClean('test/conftest.py'), 'tampered\n');
      execFileSync('mkfifo', [inClean('test/pipe')]);
      execFileSync('git', ['init', '-q', inClean('test/nested')]);
      chmodSync(inClean('bin/run'), 0o644);
      const restored = await clean.restore((path) => path.startsWith('test/'));
      expect(restored).toEqual([
        'test/app.test.js',
        'test/conftest.py',
        'test/data/one.json',
        'test/nested/.git',
        'test/pipe',
      ]);
      expect(readTree(join(clean.path, 'test'))).toEqual({
        'app.test.js': 'file test\n',
        'data/one.json': 'file {}\n',
      });
      expect(readdirSync(inClean('test')).sort()).toEqual(['app.test.js', 'data']);
      const { files, unportable } = await clean.changes();
      expect(files.map(({ path, change }) => [path, change])).toEqual([
        ['bin/run', 'mode'],
        ['src/app.js', 'modified'],
      ]);
      expect(unportable).toEqual([]);
      expect(await clean.restore((path) => path.startsWith('test/'))).toEqual([]);
    },
  );
});
