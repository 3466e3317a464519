import { chmodSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commitAll, fingerprint, makeRepo, makeTempDir, runGit } from './__fixtures__/test-repo.ts';
import { inspectRepo, resolveCommit } from './repository.ts';

const folders: string[] = [];
const keep = (folder: string) => {
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('refuses', () => {
  test('a path that does not exist, a file, a folder without git', async () => {
    const folder = keep(makeTempDir());
    writeFileSync(join(folder, 'file'), '');
    await expect(inspectRepo(join(folder, 'none'))).rejects.toMatchObject({
      code: 'repo-missing',
      exitCode: 2,
    });
    await expect(inspectRepo(join(folder, 'file'))).rejects.toMatchObject({ code: 'repo-missing' });
    await expect(inspectRepo(folder)).rejects.toMatchObject({
      code: 'repo-not-git',
      where: folder,
      hint: expect.stringContaining('git init'),
    });
  });

  test('a bare repository', async () => {
    const folder = keep(makeTempDir());
    runGit(folder, ['init', '-q', '--bare']);
    await expect(inspectRepo(folder)).rejects.toMatchObject({
      code: 'repo-bare',
      exitCode: 2,
      hint: expect.stringContaining('git clone'),
    });
  });

  test('a repository that git cannot read', async () => {
    const repo = keep(makeRepo({ file: 'x' }));
    writeFileSync(join(repo, '.git/config'), '[core\nbroken');
    await expect(resolveCommit(repo, 'HEAD')).rejects.toMatchObject({ code: 'repo-unreadable', exitCode: 2 });
  });

  test('a repository without a commit', async () => {
    const repo = keep(makeTempDir());
    runGit(repo, ['init', '-q']);
    expect(await inspectRepo(repo)).toMatchObject({ head: null, dirty: false });
    await expect(resolveCommit(repo, 'HEAD')).rejects.toMatchObject({
      code: 'repo-without-commit',
      exitCode: 2,
    });
  });
});

describe('resolveCommit', () => {
  let repo: string;
  let first: string;
  let second: string;
  beforeAll(() => {
    repo = keep(makeRepo({ file: 'one' }));
    first = runGit(repo, ['rev-parse', 'HEAD']).trim();
    second = commitAll(repo, { file: 'two' });
    runGit(repo, ['tag', '-a', 'v1', '-m', 'annotated', first]);
    runGit(repo, ['branch', 'feature/thing', first]);
  });

  test.each([
    ['HEAD', () => second],
    ['main', () => second],
    ['HEAD~1', () => first],
    ['v1', () => first],
    ['feature/thing', () => first],
    ['refs/heads/main', () => second],
  ])('%s', async (ref, commit) => {
    expect(await resolveCommit(repo, ref)).toBe(commit());
    expect(await resolveCommit(repo, commit().slice(0, 12))).toBe(commit());
  });

  test.each([
    ['mian', 'Did you mean main?'],
    ['feature/thin', 'Did you mean feature/thing?'],
    ['completely-else', 'git fetch'],
    ['--help', 'Known: feature/thing, main, v1'],
    ['main\nHEAD', 'Known'],
    ['', 'Known'],
    ['HEAD:file', 'Known'],
  ])('%j is unknown', async (ref, hint) => {
    await expect(resolveCommit(repo, ref)).rejects.toMatchObject({
      code: 'repo-ref-unknown',
      exitCode: 2,
      hint: expect.stringContaining(hint),
    });
  });
});

describe('inspectRepo', () => {
  test('finds the repository from a folder inside it, in a linked work tree and in a submodule layout', async () => {
    const repo = keep(makeRepo({ 'sub/file': 'x' }));
    const linked = join(keep(makeTempDir()), 'linked');
    runGit(repo, ['worktree', 'add', '-q', '-b', 'side', linked]);
    writeFileSync(join(linked, 'file'), 'side');
    runGit(linked, ['add', '-A']);
    runGit(linked, ['commit', '-q', '-m', 'side']);
    const side = runGit(linked, ['rev-parse', 'HEAD']).trim();
    expect(await inspectRepo(join(repo, 'sub'))).toMatchObject({ gitDir: join(repo, '.git') });
    expect(await inspectRepo(join(repo, '.git'))).toMatchObject({ gitDir: join(repo, '.git') });
    expect(await inspectRepo(linked)).toMatchObject({ head: side, dirty: false });

    renameSync(join(repo, 'sub'), join(repo, 'moved'));
    const separate = join(keep(makeTempDir()), 'separate.git');
    runGit(repo, ['init', '-q', `--separate-git-dir=${separate}`]);
    expect(await inspectRepo(repo)).toMatchObject({ gitDir: separate, dirty: true });
  });

  test('a repository is dirty with changed, staged or untracked files, not with touched, ignored or excluded ones', async () => {
    const repo = keep(makeRepo({ file: 'x\n', '.gitignore': '*.log\n' }));
    const dirty = async () => (await inspectRepo(repo)).dirty;
    utimesSync(join(repo, 'file'), new Date(0), new Date(0));
    writeFileSync(join(repo, 'debug.log'), '');
    writeFileSync(join(repo, '.git/info/exclude'), 'mine\n');
    writeFileSync(join(repo, 'mine'), '');
    expect(await dirty()).toBe(false);
    writeFileSync(join(repo, 'file'), 'y\n');
    expect(await dirty()).toBe(true);
    runGit(repo, ['add', 'file']);
    expect(await dirty()).toBe(true);
    runGit(repo, ['reset', '-q', '--hard']);
    expect(await dirty()).toBe(false);
    writeFileSync(join(repo, 'untracked'), '');
    expect(await dirty()).toBe(true);
  });

  test('files that Whetstone writes do not make a repository dirty', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    const own = [join(repo, 'out put/[runs]'), '/elsewhere/runs', repo];
    const dirty = async () => (await inspectRepo(repo, own)).dirty;
    mkdirSync(join(repo, 'out put/[runs]/1'), { recursive: true });
    writeFileSync(join(repo, 'out put/[runs]/1/manifest.json'), '{}');
    expect(await dirty()).toBe(false);
    writeFileSync(join(repo, 'out put/mine'), '');
    expect(await dirty()).toBe(true);
  });

  test('changes nothing in the repository and runs none of its hooks or filters', async () => {
    const repo = keep(makeRepo({ file: 'x\n', other: 'y\n', '.gitattributes': '* filter=canary\n' }));
    const canary = join(keep(makeTempDir()), 'canary');
    for (const [key, value] of [
      ['filter.canary.clean', `touch ${canary}; cat`],
      ['filter.canary.smudge', `touch ${canary}; cat`],
      ['core.fsmonitor', `touch ${canary};`],
      ['core.pager', `touch ${canary};`],
      ['alias.status', `!touch ${canary}`],
    ]) {
      runGit(repo, ['config', key ?? '', value ?? '']);
    }
    mkdirSync(join(repo, '.git/hooks'), { recursive: true });
    for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout']) {
      writeFileSync(join(repo, '.git/hooks', hook), `#!/bin/sh\ntouch ${canary}\n`);
      chmodSync(join(repo, '.git/hooks', hook), 0o755);
    }
    utimesSync(join(repo, 'file'), new Date(0), new Date(0));
    writeFileSync(join(repo, 'other'), 'changed\n');
    const before = fingerprint(repo);
    await inspectRepo(repo);
    await resolveCommit(repo, 'HEAD');
    expect(fingerprint(repo)).toBe(before);
    expect(() => fingerprint(canary)).toThrow('ENOENT');
  });

  test('no environment variable points git to another place', async () => {
    const repo = keep(makeRepo({ file: 'x\n' }));
    const other = keep(makeRepo({ file: 'other\n' }));
    const head = runGit(repo, ['rev-parse', 'HEAD']).trim();
    process.env.GIT_DIR = join(other, '.git');
    process.env.GIT_INDEX_FILE = join(other, '.git/index');
    try {
      expect(await inspectRepo(repo)).toMatchObject({ head, dirty: false });
    } finally {
      delete process.env.GIT_DIR;
      delete process.env.GIT_INDEX_FILE;
    }
  });
});
