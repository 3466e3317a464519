import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import {
  commitAll,
  fingerprint,
  makeRepo,
  makeTempDir,
  readTree,
  runGit,
  writeTree,
} from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import { resolveCommit } from './repository.ts';

const folders: string[] = [];
const keep = (folder: string) => {
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Every object that is in a repository, reachable or not. */
function allObjects(repo: string): string[] {
  return runGit(repo, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'])
    .trim()
    .split('\n')
    .sort();
}

function reachableObjects(repo: string, revisions: string[]): string[] {
  return runGit(repo, ['rev-list', '--objects', '--no-object-names', ...revisions])
    .trim()
    .split('\n')
    .sort();
}

describe.each(strategies)('workspaces over $strategy', { tags: 'mounts' }, ({ strategy, missing }) => {
  const open = (repo: string) => createWorkspaces({ repo, scratch: keep(makeTempDir()), strategy });

  test.skipIf(missing)(
    'a change of what all workspaces start from is noticed, whatever it restores',
    async () => {
      const scratch = keep(makeTempDir());
      const repo = keep(makeRepo({ 'a.txt': 'a\n', 'b/c.txt': 'c\n' }));
      const commit = runGit(repo, ['rev-parse', 'HEAD']).trim();
      await using workspaces = await createWorkspaces({ repo, scratch, strategy });
      const snapshot = await workspaces.prepare(commit, []);
      await using workspace = await workspaces.create(snapshot);
      writeFileSync(join(workspace.path, 'a.txt'), 'mine\n');
      expect(await workspaces.broken(snapshot)).toBeUndefined();
      const layer = globSync(join(scratch, 't-*/**/b/c.txt'))[0] ?? '';
      const { mtime } = statSync(layer);
      writeFileSync(layer, 'x\n');
      writeFileSync(layer, 'c\n');
      utimesSync(layer, mtime, mtime);
      expect(await workspaces.broken(snapshot)).toBe(layer);
      rmSync(layer);
      expect(await workspaces.broken(snapshot)).toBe(dirname(layer));
    },
  );

  test.skipIf(missing)(
    'the tree has the bytes of the commit, and nothing of the future, the past or the name of the repository',
    async () => {
      const files = {
        'crlf.txt': 'a\r\nb\r\n',
        'lf.txt': 'a\nb\n',
        'ident.txt': '$Id$\n',
        'utf16.txt': Buffer.from('\ufefftext\n', 'utf16le'),
        '.gitattributes':
          '*.txt text eol=crlf ident\nutf16.txt working-tree-encoding=UTF-16\nbin/* filter=canary\n',
        'bin/run': { exec: '#!/bin/sh\n' },
        link: { link: '/etc/hostname' },
        empty: '',
      };
      const repo = keep(makeRepo({ past: 'the past\n' }));
      rmSync(join(repo, 'past'));
      const commit = commitAll(repo, files);
      const tree = readTree(repo);
      commitAll(repo, { future: 'the answer\n' });
      runGit(repo, ['branch', 'side', commit]);

      await using workspaces = await open(repo);
      const snapshot = await workspaces.prepare(commit, []);
      await using workspace = await workspaces.create(snapshot);
      expect(readTree(workspace.path)).toEqual(tree);
      expect([...snapshot.entries.keys()].sort()).toEqual(Object.keys(tree).sort());
      expect(runGit(workspace.path, ['status', '--porcelain', '--ignored'])).toBe('');
      expect(runGit(workspace.path, ['diff', 'HEAD'])).toBe('');

      expect(runGit(workspace.path, ['rev-list', '--all', '--reflog']).trim().split('\n')).toHaveLength(1);
      expect(allObjects(workspace.path)).toEqual(reachableObjects(workspace.path, ['HEAD']));
      expect(runGit(workspace.path, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main\n');
      expect(runGit(workspace.path, ['remote', '-v'])).toBe('');
      expect(existsSync(join(workspace.path, '.git/objects/info/alternates'))).toBe(false);
      expect(runGit(workspace.path, ['fsck', '--strict', '--full'])).toBe('');
      expect(relative(folders.at(-1) ?? '', workspace.path)).toMatch(/^w-[0-9a-f]{12}\/repo$/);
      expect(statSync(join(workspace.path, '..')).mode & 0o777).toBe(0o700);

      execFileSync('git', ['commit', '-q', '--allow-empty', '-m', 'an agent can commit'], {
        cwd: workspace.path,
      });
    },
  );

  test.skipIf(missing)('the repository of the user is only read, and nothing of it runs', async () => {
    const repo = keep(makeRepo({ file: 'x\n', '.gitattributes': '* filter=canary\n' }));
    const commit = await resolveCommit(repo, 'HEAD');
    const canary = join(keep(makeTempDir()), 'canary');
    const overlay = keep(makeTempDir());
    writeTree(overlay, { 'AGENTS.md': 'rules\n' });
    for (const key of ['filter.canary.clean', 'filter.canary.smudge', 'core.fsmonitor', 'diff.external']) {
      runGit(repo, ['config', key, `touch ${canary};`]);
    }
    runGit(repo, ['config', 'core.hooksPath', join(repo, '.git/hooks')]);
    mkdirSync(join(repo, '.git/hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit']) {
      writeFileSync(join(repo, '.git/hooks', hook), `#!/bin/sh\ntouch ${canary}\n`);
      chmodSync(join(repo, '.git/hooks', hook), 0o755);
    }
    const before = fingerprint(repo);
    {
      await using workspaces = await open(repo);
      const snapshot = await workspaces.prepare(commit, [
        { kind: 'copy', source: join(overlay, 'AGENTS.md'), target: 'AGENTS.md' },
      ]);
      await using workspace = await workspaces.create(snapshot);
      appendFileSync(join(workspace.path, 'file'), 'more\n');
      expect((await workspace.changes()).files).toHaveLength(1);
      await workspace.rebase();
    }
    expect(fingerprint(repo)).toBe(before);
    expect(existsSync(canary)).toBe(false);
  });

  test.skipIf(missing)('two workspaces never see each other, and the snapshot stays as it was', async () => {
    const repo = keep(makeRepo({ file: 'base\n', 'folder/inner': 'base\n' }));
    await using workspaces = await open(repo);
    const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
    await using one = await workspaces.create(snapshot);
    await using two = await workspaces.create(snapshot);
    appendFileSync(join(one.path, 'file'), 'in place\n');
    rmSync(join(one.path, 'folder'), { recursive: true });
    writeFileSync(join(one.path, '.git/HEAD'), 'ref: refs/heads/other\n');
    chmodSync(join(one.path, 'file'), 0o755);
    await using three = await workspaces.create(snapshot);
    for (const other of [two, three]) {
      expect(readTree(other.path)).toEqual(readTree(repo));
      expect(readFileSync(join(other.path, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
      expect((await other.changes()).files).toEqual([]);
    }
  });

  test.skipIf(missing)('an overlay is part of the only commit, and what it replaced is nowhere', async () => {
    const repo = keep(
      makeRepo({
        'AGENTS.md': 'the old rules\n',
        'skills/old.md': 'old\n',
        'docs/guide.md': 'guide\n',
        'gone/a': 'a\n',
        out: { link: '/tmp' },
      }),
    );
    const source = keep(makeTempDir());
    writeTree(source, {
      'AGENTS.md': 'the new rules\n',
      'skills/new.md': 'new\n',
      'skills/tool': { exec: '#!/bin/sh\n' },
      'skills/link': { link: 'new.md' },
      'skills/.git': 'not copied',
      'skills/\xff': 'bytes\n',
      'skills/\xfe/inner': 'bytes\n',
    });
    symlinkSync('AGENTS.md', join(source, 'alias'));
    const before = fingerprint(source);
    await using workspaces = await open(repo);
    const commit = await resolveCommit(repo, 'HEAD');
    const snapshot = await workspaces.prepare(commit, [
      { kind: 'copy', source: join(source, 'AGENTS.md'), target: 'AGENTS.md' },
      { kind: 'copy', source: join(source, 'skills'), target: 'skills/' },
      { kind: 'copy', source: join(source, 'alias'), target: 'out/below/CLAUDE.md' },
      { kind: 'remove', paths: ['gone', 'docs/guide.md', 'never/there'] },
    ]);
    await using workspace = await workspaces.create(snapshot);
    expect(readTree(workspace.path)).toEqual({
      'AGENTS.md': 'file the new rules\n',
      'out/below/CLAUDE.md': 'file the new rules\n',
      'skills/link': 'link new.md',
      'skills/new.md': 'file new\n',
      'skills/tool': 'exec #!/bin/sh\n',
      'skills/\xfe/inner': 'file bytes\n',
      'skills/\xff': 'file bytes\n',
    });
    expect([...snapshot.entries.keys()].sort()).toEqual(Object.keys(readTree(workspace.path)).sort());
    expect(existsSync('/tmp/below')).toBe(false);
    expect(existsSync(join(workspace.path, 'docs'))).toBe(false);
    expect(fingerprint(source)).toBe(before);

    expect(runGit(workspace.path, ['status', '--porcelain', '--ignored'])).toBe('');
    expect(runGit(workspace.path, ['rev-list', '--all']).trim().split('\n')).toHaveLength(1);
    expect(allObjects(workspace.path)).toEqual(reachableObjects(workspace.path, ['HEAD']));
    expect((await workspace.changes()).files).toEqual([]);

    await using baseline = await workspaces.create(await workspaces.prepare(commit, []));
    expect(readTree(baseline.path)).toEqual(readTree(repo));
    const describeArm = (path: string) => [
      readFileSync(join(path, '.git/config'), 'utf8'),
      runGit(path, ['log', '--format=%an %ae %ad %cn %cd %B']),
      readdirSync(join(path, '.git')).sort(),
    ];
    expect(describeArm(workspace.path)).toEqual(describeArm(baseline.path));
  });

  test.skipIf(missing)('changes that are asked for at the same time are the same', async () => {
    const repo = keep(makeRepo({ 'a.txt': 'a\n' }));
    await using workspaces = await open(repo);
    await using workspace = await workspaces.create(
      await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []),
    );
    writeFileSync(join(workspace.path, 'b.txt'), 'b\n');
    const all = await Promise.all(Array.from({ length: 16 }, () => workspace.changes()));
    for (const { files } of all) expect(files).toMatchObject([{ path: 'b.txt', change: 'added' }]);
  });

  test.skipIf(missing)('preparing is shared by concurrent callers', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    await using workspaces = await open(repo);
    const commit = await resolveCommit(repo, 'HEAD');
    const [one, two, other] = await Promise.all([
      workspaces.prepare(commit, []),
      workspaces.prepare(commit, []),
      workspaces.prepare(commit, [{ kind: 'remove', paths: ['file'] }]),
    ]);
    expect(one).toBe(two);
    expect(other).not.toBe(one);
    expect([...other.entries.keys()]).toEqual([]);
    await using workspace = await workspaces.create(other);
    expect(readTree(workspace.path)).toEqual({});
    writeFileSync(join(workspace.path, 'file'), 'again\n');
    expect((await workspace.changes()).files).toMatchObject([{ path: 'file', change: 'added' }]);
  });

  test.skipIf(missing)('disposal leaves the scratch folder as it was, whatever an agent did', async () => {
    const repo = keep(makeRepo({ 'folder/file': 'x\n' }));
    const scratch = keep(makeTempDir());
    writeFileSync(join(scratch, 'not ours'), '');
    const outside = keep(makeTempDir());
    writeFileSync(join(outside, 'precious'), '');
    {
      await using workspaces = await createWorkspaces({ repo, scratch, strategy });
      const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
      const workspace = await workspaces.create(snapshot);
      symlinkSync(outside, join(workspace.path, 'out'));
      mkdirSync(join(workspace.path, 'locked/inner'), { recursive: true });
      chmodSync(join(workspace.path, 'locked'), 0);
      await workspace.changes();
      const disposed = await workspaces.create(snapshot);
      await disposed[Symbol.asyncDispose]();
      await disposed[Symbol.asyncDispose]();
      expect(existsSync(disposed.path)).toBe(false);
    }
    expect(readdirSync(scratch)).toEqual(['not ours']);
    expect(existsSync(join(outside, 'precious'))).toBe(true);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(scratch);
  });

  test.skipIf(missing)('submodules are empty folders, LFS pointers files; both are noted', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
    const repo = keep(makeRepo({ 'big.bin': pointer, 'note.txt': 'version of something else\n' }));
    const oid = 'a'.repeat(40);
    runGit(repo, ['update-index', '--add', '--cacheinfo', `160000,${oid},vendor/module`]);
    runGit(repo, ['commit', '-q', '-m', 'submodule']);
    await using workspaces = await open(repo);
    const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
    expect(snapshot.notes).toEqual({ submodules: ['vendor/module'], lfsPointers: ['big.bin'] });
    await using workspace = await workspaces.create(snapshot);
    expect(readdirSync(join(workspace.path, 'vendor/module'))).toEqual([]);
    expect(readFileSync(join(workspace.path, 'big.bin'), 'utf8')).toBe(pointer);
    expect((await workspace.changes()).files).toEqual([]);
    writeFileSync(join(workspace.path, 'vendor/module/file'), 'x');
    expect(await workspace.changes()).toMatchObject({ files: [], unportable: ['vendor/module'] });
    rmSync(join(workspace.path, 'vendor'), { recursive: true });
    expect(await workspace.changes()).toMatchObject({ files: [], unportable: [] });
  });

  test.skipIf(missing)('repositories with SHA-256 ids work', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }, { format: 'sha256' }));
    await using workspaces = await open(repo);
    const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), [
      { kind: 'remove', paths: ['nothing'] },
    ]);
    await using workspace = await workspaces.create(snapshot);
    await using other = await workspaces.create(snapshot);
    expect(runGit(workspace.path, ['status', '--porcelain'])).toBe('');
    appendFileSync(join(workspace.path, 'file'), 'y\n');
    const changes = await workspace.changes();
    expect(changes.files).toMatchObject([{ path: 'file', oid: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    await other.apply(changes);
    expect(readTree(other.path)).toEqual(readTree(workspace.path));
    runGit(repo, ['apply', '--index', changes.patchFile]);
  });
});

describe('repositories of other shapes', () => {
  const open = (repo: string) => createWorkspaces({ repo, scratch: keep(makeTempDir()), strategy: 'copy' });

  test('linked work trees, borrowed objects and unusual paths work', async () => {
    const origin = join(keep(makeTempDir()), '"odd"\n#path, with: all');
    mkdirSync(origin);
    runGit(origin, ['init', '-q', '-b', 'main']);
    commitAll(origin, { file: 'x\n' });
    const shared = join(keep(makeTempDir()), 'shared');
    runGit(origin, ['clone', '-q', '--no-local', '.', shared]);
    const twice = join(keep(makeTempDir()), 'twice');
    runGit(shared, ['clone', '-q', '--shared', '.', twice]);
    const linked = join(keep(makeTempDir()), 'linked');
    runGit(twice, ['worktree', 'add', '-q', '-b', 'side', linked]);
    for (const repo of [origin, linked]) {
      await using workspaces = await open(repo);
      const commit = await resolveCommit(repo, 'HEAD');
      await using workspace = await workspaces.create(await workspaces.prepare(commit, []));
      expect(readTree(workspace.path)).toEqual({ file: 'file x\n' });
    }
  });

  test('in a partial clone the error names what is missing, and nothing is fetched', async () => {
    const origin = keep(makeRepo({ file: 'x\n' }));
    runGit(origin, ['config', 'uploadpack.allowFilter', 'true']);
    const partial = join(keep(makeTempDir()), 'partial');
    runGit(origin, ['clone', '-q', '--no-checkout', '--filter=blob:none', `file://${origin}`, partial]);
    await using workspaces = await open(partial);
    const commit = await resolveCommit(partial, 'HEAD');
    const before = fingerprint(partial);
    await expect(workspaces.prepare(commit, [])).rejects.toMatchObject({
      code: 'repo-objects-missing',
      exitCode: 2,
      message: expect.stringContaining('file'),
      hint: expect.stringContaining('--refetch --no-filter'),
    });
    expect(fingerprint(partial)).toBe(before);
  });

  test('missing objects are an error', async () => {
    const repo = keep(makeRepo({ file: 'x\n', 'folder/inner': 'y\n' }));
    await using workspaces = await open(repo);
    const commit = await resolveCommit(repo, 'HEAD');
    const tree = runGit(repo, ['rev-parse', 'HEAD:folder']).trim();
    rmSync(join(repo, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    await expect(workspaces.prepare(commit, [])).rejects.toMatchObject({ code: 'repo-objects-missing' });
    await expect(workspaces.prepare('b'.repeat(40), [])).rejects.toMatchObject({
      code: 'repo-objects-missing',
      message: `The repository does not contain commit ${'b'.repeat(40)}.`,
      hint: expect.stringContaining('start a new run'),
    });
    await expect(workspaces.prepare('main', [])).rejects.toMatchObject({
      code: 'repo-ref-unknown',
      exitCode: 2,
    });
  });

  test('a failed preparation can be tried again', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    const source = join(keep(makeTempDir()), 'AGENTS.md');
    await using workspaces = await open(repo);
    const commit = await resolveCommit(repo, 'HEAD');
    const overlays = [{ kind: 'copy' as const, source, target: 'AGENTS.md' }];
    await expect(workspaces.prepare(commit, overlays)).rejects.toMatchObject({
      code: 'overlay-source-missing',
      where: source,
      exitCode: 2,
    });
    writeFileSync(source, 'rules\n');
    expect([...(await workspaces.prepare(commit, overlays)).entries.keys()].sort()).toEqual([
      'AGENTS.md',
      'file',
    ]);
  });

  test('an overlay target that is not a portable path inside the tree is refused', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    await using workspaces = await open(repo);
    const commit = await resolveCommit(repo, 'HEAD');
    const inside = ['.git/hooks/x', 'sub/.GIT/x', 'sub/.git', 'git~1'];
    const outside = ['.', '', '/etc/x', '../x', 'a/../x', 'a//b', 'C:/x', 'a\\b', 'nul.txt', 'a\0b'];
    for (const target of [...inside, ...outside]) {
      const refused = workspaces.prepare(commit, [{ kind: 'remove', paths: [target] }]);
      await expect(refused, target).rejects.toMatchObject({ code: 'workspace-path-unsafe', exitCode: 2 });
    }
  });

  test('a strategy that does not work here is an error, not another strategy', async () => {
    const repo = keep(makeRepo({}));
    const scratch = keep(makeTempDir());
    const reflinks = await createWorkspaces({ repo, scratch, strategy: 'reflink' }).then(
      async (workspaces) => {
        await workspaces[Symbol.asyncDispose]();
        return workspaces.strategy;
      },
      (error: unknown) => error,
    );
    if (reflinks !== 'reflink') {
      expect(reflinks).toMatchObject({ code: 'workspace-strategy-unavailable', exitCode: 2, where: scratch });
    }
    expect(readdirSync(scratch)).toEqual([]);
  });
});

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

describe('a full disk', () => {
  test.skipIf(!isRoot)('is one error that names the folder', { tags: 'root' }, async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    const scratch = keep(makeTempDir());
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', scratch]);
    try {
      await using workspaces = await createWorkspaces({ repo, scratch, strategy: 'copy' });
      const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
      const full = { code: 'disk-full', where: scratch, hint: expect.stringContaining('TMPDIR') };
      await using workspace = await workspaces.create(snapshot);
      const filler = join(workspace.path, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))).toThrow('ENOSPC');
      await expect(workspace.changes()).rejects.toMatchObject(full);
      await expect(workspaces.create(snapshot)).rejects.toMatchObject(full);
      const large = join(repo, 'large');
      writeFileSync(large, Buffer.alloc(1024 * 1024));
      const overlays = [{ kind: 'copy' as const, source: large, target: 'large' }];
      await expect(workspaces.prepare(snapshot.commit, overlays)).rejects.toMatchObject(full);
      rmSync(filler);
      expect(await workspace.changes()).toMatchObject({ files: [] });
    } finally {
      execFileSync('umount', [scratch]);
    }
    expect(lstatSync(scratch).isDirectory()).toBe(true);
  });
});
