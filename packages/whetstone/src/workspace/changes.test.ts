import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import {
  bytesOf,
  makeRepo,
  makeTempDir,
  readTree,
  runGit,
  type TreeSpec,
  writeTree,
} from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import { resolveCommit } from './repository.ts';
import type { Changes, Snapshot, Workspace, Workspaces } from './workspace.ts';

const AWKWARD = {
  'new\nline': 'a\n',
  'quo"te': 'b\n',
  "apo'strophe": 'c\n',
  '-dash': 'd\n',
  'back\\slash': 'e\n',
  'sp ace/tab\there': 'f\n',
  ' leading and trailing ': 'g\n',
  'latin-\xe9': 'h\n',
  '.hidden/:colon,comma': 'i\n',
};

const TREE: TreeSpec = {
  'README.md': 'one\ntwo\nthree\n',
  'src/app.js': `${Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n')}\n`,
  'src/deep/er/file.txt': 'deep\n',
  'src/deep/other.txt': 'other\n',
  'bin/run': { exec: '#!/bin/sh\necho hi\n' },
  link: { link: 'README.md' },
  empty: '',
  binary: Buffer.from([0, 1, 2, 255, 254, 0]),
  'crlf.txt': 'a\r\nb\r\n',
  'lf.txt': 'a\nb\n',
  'ident.txt': '$Id$\n',
  '.gitattributes': '*.txt text eol=crlf ident filter=canary\n*.js -diff\n',
  '.gitignore': 'ignored/\n*.log\n',
  ...AWKWARD,
};

describe.each(strategies)('changes over $strategy', { tags: 'mounts' }, ({ strategy, missing }) => {
  let repo: string;
  let scratch: string;
  let workspaces: Workspaces;
  let snapshot: Snapshot;
  let workspace: Workspace;

  beforeAll(async () => {
    if (missing) return;
    repo = makeRepo(TREE);
    scratch = makeTempDir();
    workspaces = await createWorkspaces({ repo, scratch, strategy });
    snapshot = await workspaces.prepare(await resolveCommit(repo, 'main'), []);
  });
  afterAll(async () => {
    await workspaces?.[Symbol.asyncDispose]();
    for (const folder of [repo, scratch]) if (folder) rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    if (!missing) workspace = await workspaces.create(snapshot);
  });
  afterEach(() => workspace?.[Symbol.asyncDispose]());

  const at = (path: string) => bytesOf(join(workspace.path, path));
  const git = (...args: string[]) => runGit(workspace.path, args);

  /** Checks what holds for all changes: the patch, applied by git to the base, gives the tree of the workspace. */
  async function changesThatApply(): Promise<Changes> {
    const changes = await workspace.changes();
    expect(changes.patchBytes).toBe(statSync(changes.patchFile).size);
    const checkout = makeRepo(TREE);
    try {
      writeFileSync(join(checkout, '.git/info/attributes'), '* -text -ident !filter\n');
      if (changes.patchBytes > 0) runGit(checkout, ['apply', '--binary', '--index', changes.patchFile]);
      expect(readTree(checkout)).toEqual(readTree(workspace.path));
    } finally {
      rmSync(checkout, { recursive: true });
    }
    return changes;
  }

  const summary = (changes: Changes) =>
    changes.files.map(({ change, path, from }) =>
      [change, path, ...(from === undefined ? [] : [from])].join(' '),
    );

  test.skipIf(missing)('no change gives no files and an empty patch', async () => {
    const changes = await changesThatApply();
    expect(changes).toMatchObject({ files: [], insertions: 0, deletions: 0, patchBytes: 0, unportable: [] });
    expect(readTree(workspace.path)).toEqual(readTree(repo));
  });

  test.skipIf(missing)(
    'added, modified, deleted and renamed files and modes are sorted, with counted lines',
    async () => {
      writeFileSync(at('added.txt'), 'x\ny\n');
      appendFileSync(at('README.md'), 'four\n');
      rmSync(at('lf.txt'));
      renameSync(at('src/app.js'), at('src/main.js'));
      appendFileSync(at('src/main.js'), 'more\n');
      chmodSync(at('bin/run'), 0o644);
      const changes = await changesThatApply();
      expect(summary(changes)).toEqual([
        'modified README.md',
        'added added.txt',
        'mode bin/run',
        'deleted lf.txt',
        'renamed src/main.js src/app.js',
      ]);
      expect(changes).toMatchObject({ insertions: 4, deletions: 2 });
      expect(changes.files.map(({ mode }) => mode)).toEqual([
        '100644',
        '100644',
        '100644',
        undefined,
        '100644',
      ]);
      expect(changes.files[0]).toMatchObject({ insertions: 1, deletions: 0, binary: false });
    },
  );

  test.skipIf(missing)(
    'a file that is rewritten with the same content, touched, or moved away and back is not a change',
    async () => {
      writeFileSync(at('README.md'), 'one\ntwo\nthree\n');
      rmSync(at('src'), { recursive: true });
      writeTree(workspace.path, {
        'src/app.js': TREE['src/app.js'] ?? '',
        'src/deep/er/file.txt': 'deep\n',
        'src/deep/other.txt': 'other\n',
      });
      expect(summary(await changesThatApply())).toEqual([]);
    },
  );

  test.skipIf(missing)('nothing that the agent does in .git hides a change', async () => {
    appendFileSync(at('README.md'), 'committed\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'mine');
    git('commit', '-q', '--amend', '-m', 'amended');
    git('update-index', '--assume-unchanged', 'lf.txt');
    writeFileSync(at('lf.txt'), 'changed\n');
    git('update-index', '--skip-worktree', 'crlf.txt');
    rmSync(at('crlf.txt'));
    appendFileSync(at('.git/info/exclude'), 'secret\n');
    writeFileSync(at('secret'), 'x');
    writeFileSync(at('debug.log'), 'ignored by the tree\n');
    mkdirSync(at('ignored'));
    writeFileSync(at('ignored/file'), 'ignored as well\n');
    git('config', 'diff.external', 'false');
    git('config', 'core.fsmonitor', 'false');
    const expected = [
      'modified README.md',
      'deleted crlf.txt',
      'added debug.log',
      'added ignored/file',
      'modified lf.txt',
      'added secret',
    ];
    expect(summary(await changesThatApply())).toEqual(expected);
    rmSync(at('.git'), { recursive: true });
    expect(summary(await changesThatApply())).toEqual(expected);
    symlinkSync(scratch, at('.git'));
    expect(summary(await changesThatApply())).toEqual(expected);
    rmSync(at('.git'));
    writeFileSync(at('.git'), 'gitdir: /elsewhere\n');
    expect(summary(await changesThatApply())).toEqual(expected);
  });

  test.skipIf(missing)('a .gitattributes of the agent does not change the patch', async () => {
    writeFileSync(at('.gitattributes'), '* text=auto eol=crlf ident filter=lfs -diff\n*.md binary\n');
    appendFileSync(at('README.md'), 'four\r\n');
    writeFileSync(at('utf16.txt'), Buffer.from('\ufeffabc\n', 'utf16le'));
    const changes = await changesThatApply();
    expect(summary(changes)).toEqual(['modified .gitattributes', 'modified README.md', 'added utf16.txt']);
    expect(changes.files[1]).toMatchObject({ binary: false, insertions: 1 });
    expect(readFileSync(changes.patchFile, 'latin1')).toContain('+four\r\n');
  });

  test.skipIf(missing)('a symlink is compared by its target and never followed', async () => {
    const outside = join(scratch, 'outside');
    writeTree(outside, { 'app.js': 'the treasure\n', 'deep/other.txt': 'the treasure\n' });
    rmSync(at('README.md'));
    symlinkSync(join(outside, 'app.js'), at('README.md'));
    rmSync(at('src'), { recursive: true });
    symlinkSync(outside, at('src'));
    rmSync(at('link'));
    symlinkSync('lf.txt', at('link'));
    symlinkSync('.', at('loop'));
    symlinkSync(bytesOf('to-\xff'), at('bytes'));
    const changes = await changesThatApply();
    expect(summary(changes)).toEqual([
      'modified README.md',
      'added bytes',
      'modified link',
      'added loop',
      'added src',
      'deleted src/app.js',
      'deleted src/deep/er/file.txt',
      'deleted src/deep/other.txt',
    ]);
    expect(readFileSync(changes.patchFile, 'latin1')).not.toContain('treasure');
    expect(changes.files.find(({ path }) => path === 'src')).toMatchObject({ mode: '120000' });
  });

  test.skipIf(missing)('a file can become a folder, and a folder a file', async () => {
    rmSync(at('README.md'));
    mkdirSync(at('README.md'));
    writeFileSync(at('README.md/inner'), 'inner\n');
    rmSync(at('src/deep'), { recursive: true });
    writeFileSync(at('src/deep'), 'flat\n');
    rmSync(at('link'));
    mkdirSync(at('link'));
    writeFileSync(at('link/inside'), 'through no link\n');
    expect(summary(await changesThatApply())).toEqual([
      'deleted README.md',
      'added README.md/inner',
      'deleted link',
      'added link/inside',
      'added src/deep',
      'deleted src/deep/er/file.txt',
      'deleted src/deep/other.txt',
    ]);
  });

  test.skipIf(missing)('a folder that was deleted and made again has only its new files', async () => {
    rmSync(at('src'), { recursive: true });
    mkdirSync(at('src/deep'), { recursive: true });
    writeFileSync(at('src/deep/other.txt'), 'other\n');
    writeFileSync(at('src/deep/new.txt'), 'new\n');
    expect(summary(await changesThatApply())).toEqual([
      'deleted src/app.js',
      'deleted src/deep/er/file.txt',
      'added src/deep/new.txt',
    ]);
  });

  test.skipIf(missing)(
    'a renamed folder is a rename of its files, even with another folder in its place',
    async () => {
      renameSync(at('src'), at('source'));
      renameSync(at('.hidden'), at('src'));
      writeFileSync(at('src/app.js'), 'new\n');
      writeFileSync(at('source/deep/new'), 'new\n');
      renameSync(at('bin'), at('elsewhere'));
      renameSync(at('elsewhere'), at('bin'));
      expect(summary(await changesThatApply())).toEqual([
        'added source/app.js',
        'renamed source/deep/er/file.txt src/deep/er/file.txt',
        'added source/deep/new',
        'renamed source/deep/other.txt src/deep/other.txt',
        'renamed src/:colon,comma .hidden/:colon,comma',
        'modified src/app.js',
      ]);
    },
  );

  test.skipIf(missing)('binary files, empty files, and bytes that are not text', async () => {
    writeFileSync(at('binary'), Buffer.from([9, 0, 9]));
    writeFileSync(at('blob.bin'), Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7) % 256)));
    writeFileSync(at('empty'), 'no more\n');
    writeFileSync(at('lf.txt'), '');
    writeFileSync(at('new-empty'), '');
    writeFileSync(at('latin1.txt'), Buffer.from('caf\xe9\n', 'latin1'));
    writeFileSync(at('no-newline'), 'x');
    const changes = await changesThatApply();
    const binaries = changes.files.filter(({ binary }) => binary).map(({ path }) => path);
    expect(binaries).toEqual(['binary', 'blob.bin']);
    expect(changes.files.find(({ path }) => path === 'binary')).toMatchObject({
      insertions: 0,
      deletions: 0,
    });
    expect(summary(changes)).toHaveLength(7);
  });

  test.skipIf(missing)('names may be any bytes', async () => {
    const renamed = 'new\nline';
    for (const name of Object.keys(AWKWARD)) if (name !== renamed) appendFileSync(at(name), 'more\n');
    writeFileSync(at('new \n\t"\\\xff\xfe-name'), 'x\n');
    rmSync(at('quo"te'));
    renameSync(at(renamed), at('new\r\x1bline'));
    const changes = await changesThatApply();
    expect(changes.files.map(({ bytes }) => bytes)).toEqual(
      [
        ...Object.keys(AWKWARD).filter((name) => name !== renamed),
        'new \n\t"\\\xff\xfe-name',
        'new\r\x1bline',
      ].sort(),
    );
    expect(changes.files.find(({ bytes }) => bytes === 'latin-\xe9')?.path).toBe('latin-\\xe9');
  });

  test.skipIf(missing)('what no patch can hold is listed, and what it replaced is deleted', async () => {
    execFileSync('mkfifo', [join(workspace.path, 'pipe')]);
    rmSync(at('README.md'));
    execFileSync('mkfifo', [join(workspace.path, 'README.md')]);
    mkdirSync(at('nested'));
    runGit(join(workspace.path, 'nested'), ['init', '-q']);
    writeFileSync(at('nested/file'), 'in a nested repository\n');
    mkdirSync(at('src/.GIT'));
    writeFileSync(at('src/.GIT/config'), 'x');
    symlinkSync('README.md', at('.gitmodules'));
    mkdirSync(at('vacant/folder'), { recursive: true });
    const changes = await workspace.changes();
    expect(changes.unportable).toEqual(['.gitmodules', 'README.md', 'nested/.git', 'pipe', 'src/.GIT']);
    expect(summary(changes)).toEqual(['deleted README.md', 'added nested/file']);
  });

  test.skipIf(missing)('locked files and folders hide nothing', async () => {
    writeFileSync(at('src/locked'), 'x\n');
    chmodSync(at('src/locked'), 0);
    rmSync(at('src/app.js'));
    chmodSync(at('src'), 0);
    const changes = await workspace.changes();
    expect(summary(changes)).toEqual(['deleted src/app.js', 'added src/locked']);
  });

  test.skipIf(missing)('a tree deeper than a path can name is reported, and is removed', async () => {
    const script = `for (let i = 0; i < 60; i++) { fs.mkdirSync('${'d'.repeat(100)}'); process.chdir('${'d'.repeat(100)}'); }`;
    execFileSync(process.execPath, ['-e', script], { cwd: workspace.path });
    const changes = await workspace.changes();
    expect(changes.files).toEqual([]);
    expect(changes.unportable).toHaveLength(1);
    await workspace[Symbol.asyncDispose]();
    expect(existsSync(workspace.path)).toBe(false);
  });

  test.skipIf(missing)('many files and a large file are compared exactly, with bounded memory', async () => {
    for (let index = 0; index < 200; index += 1) writeFileSync(at(`many-${index}`), `${index}\n`);
    writeFileSync(at('large'), Buffer.alloc(2 * 1024 * 1024, 'large line\n'));
    const changes = await changesThatApply();
    expect(changes.files).toHaveLength(201);
    expect(changes.patchBytes).toBeGreaterThan(2 * 1024 * 1024);
  });

  test.skipIf(missing)('asking twice gives the same changes; asking later includes new ones', async () => {
    appendFileSync(at('README.md'), 'four\n');
    const first = await workspace.changes();
    const second = await workspace.changes();
    expect(second.files).toEqual(first.files);
    expect(readFileSync(second.patchFile)).toEqual(readFileSync(first.patchFile));
    writeFileSync(at('added'), 'x\n');
    expect(summary(await workspace.changes())).toEqual(['modified README.md', 'added added']);
    rmSync(at('added'));
    writeFileSync(at('README.md'), 'one\ntwo\nthree\n');
    expect(await workspace.changes()).toMatchObject({ files: [], patchBytes: 0 });
    expect(readFileSync(first.patchFile)).toEqual(readFileSync(second.patchFile));
    expect(statSync(first.patchFile).size).toBe(first.patchBytes);
  });

  test.skipIf(missing)('after rebase, only later changes count', async () => {
    writeFileSync(at('built.txt'), 'by setup\n');
    rmSync(at('lf.txt'));
    appendFileSync(at('README.md'), 'by setup\n');
    mkdirSync(at('vendor'));
    runGit(join(workspace.path, 'vendor'), ['init', '-q']);
    await workspace.rebase();
    expect(await workspace.changes()).toMatchObject({ files: [], patchBytes: 0, unportable: [] });
    appendFileSync(at('README.md'), 'by the agent\n');
    writeFileSync(at('lf.txt'), 'a\nb\n');
    rmSync(at('built.txt'));
    const changes = await workspace.changes();
    expect(summary(changes)).toEqual(['modified README.md', 'deleted built.txt', 'added lf.txt']);
    expect(changes).toMatchObject({ insertions: 3, deletions: 1 });
    expect(await workspace.restore(() => true)).toEqual(['README.md', 'built.txt', 'lf.txt']);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('one\ntwo\nthree\nby setup\n');
    expect(existsSync(at('lf.txt'))).toBe(false);
  });
});
