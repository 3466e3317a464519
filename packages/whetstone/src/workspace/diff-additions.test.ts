import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  makeRepo,
  makeTempDir,
  readTree,
  runGit,
  type TreeSpec,
  writeTree,
} from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import { writeAdditions } from './diff-additions.ts';
import { diffCommits } from './diff-commits.ts';
import { makeGitDirectory } from './git-directory.ts';
import { importTree } from './import-tree.ts';
import { resolveCommit } from './repository.ts';

let home: string;

beforeEach(() => {
  home = makeTempDir();
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const name = fc.constantFrom(
  'a',
  'b.txt',
  '-c',
  '+',
  'd~e',
  '#{f}',
  'sp ace',
  'quo"te',
  'back\\slash',
  'é',
  'a\nb',
);
const content = fc.oneof(
  fc.constantFrom('', '\n', '\n\n', 'x', 'x\n', '+\n-\n', 'a\r\nb\r', '\\ No newline\n', 'é\n'),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(7999, 8000).map((length) => `${'y'.repeat(length)}\0\nz`),
);
const entry = fc.oneof(
  { weight: 4, arbitrary: content },
  { weight: 1, arbitrary: fc.record({ exec: content }) },
  { weight: 1, arbitrary: fc.record({ link: fc.constant('a') }) },
);
const tree = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 3 }), name, entry), { minLength: 1, maxLength: 12 })
  .map(
    (entries): TreeSpec =>
      Object.fromEntries(entries.map(([folder, name, entry]) => [`d${folder}/${name}`, entry])),
  );

test('additions are what git itself writes, and git gets the rest', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (files) => {
      const root = join(home, 'tree');
      const gitDir = join(home, 'git');
      makeGitDirectory(gitDir, { format: 'sha1' });
      mkdirSync(root);
      writeTree(root, files);
      const edits = Object.entries(files).map(([path, entry]) => ({
        kind: 'write' as const,
        path,
        mode: modeOf(entry),
      }));
      const change = { start: { tree: EMPTY_TREE }, root, edits, ref: 'refs/heads/one' };
      const patchFile = join(home, 'patch');
      using additions = writeAdditions(patchFile, 'sha1');
      const { commit, added } = await importTree(gitDir, { ...change, additions });
      const written = readFileSync(patchFile, 'latin1');

      const empty = { ...change, edits: [], ref: 'refs/heads/none' };
      const { commit: none } = await importTree(gitDir, empty);
      const byGit = join(home, 'by-git.patch');
      const expected = await diffCommits({ gitDir, from: none, to: added, patchFile: byGit });
      const paths = edits.map(({ path }) => path);
      expect(partsOf(written)).toEqual(partsOf(readFileSync(byGit, 'latin1')));
      expect(additions.patchBytes).toBe(expected.patchBytes);
      expect([...additions.files].sort(byPath)).toEqual(expected.files.sort(byPath));
      const { files: rest } = await diffCommits({ gitDir, from: added, to: commit, patchFile: byGit });
      expect([...additions.files, ...rest].map(({ bytes }) => bytes).sort()).toEqual(paths.sort());
      for (const folder of [root, gitDir, patchFile, byGit]) rmSync(folder, { recursive: true, force: true });
    }),
    { numRuns: 40 },
  );
});

const byPath = (a: { bytes: string }, b: { bytes: string }) => (a.bytes < b.bytes ? -1 : 1);

/** The part of each file, in the order of paths. */
const partsOf = (patch: string): string[] => patch.split(/^(?=diff --git )/m).sort();

function modeOf(entry: TreeSpec[string]): '100644' | '100755' | '120000' {
  if (typeof entry === 'string' || Buffer.isBuffer(entry)) return '100644';
  return 'link' in entry ? '120000' : '100755';
}

test.each([
  ['only additions and changes', () => {}],
  ['a deletion too', (root: string) => rmSync(join(root, 'gone.txt'))],
])('the patch of 1,500 new files gives the same tree: %s', async (_, also) => {
  const repo = makeRepo({ 'README.md': 'one\n', 'src/a.js': 'a\n', 'gone.txt': 'gone\n' });
  const scratch = join(home, 'scratch');
  mkdirSync(scratch);
  writeFileSync(join(repo, '.git/info/attributes'), '* -text\n');
  await using workspaces = await createWorkspaces({ repo, scratch, strategy: 'copy' });
  const snapshot = await workspaces.prepare(await resolveCommit(repo, 'main'), []);
  await using workspace = await workspaces.create(snapshot);
  await using other = await workspaces.create(snapshot);
  const many = Array.from({ length: 1_500 }, (_, index) => [`new/${index % 40}/${index}`, `${index}\n`]);
  const odd: TreeSpec = { 'new/s p': 'x', 'new/bin': Buffer.from([0, 1, 2]), 'new/run': { exec: '#!\n' } };
  writeTree(workspace.path, { ...Object.fromEntries(many), ...odd, 'new/link': { link: 'run' } });
  appendFileSync(join(workspace.path, 'README.md'), 'two\n');
  also(workspace.path);

  const changes = await workspace.changes();

  expect(changes.files.map(({ bytes }) => bytes)).toEqual(changes.files.map(({ bytes }) => bytes).sort());
  expect(changes).toMatchObject({ insertions: 1_504, patchBytes: readFileSync(changes.patchFile).length });
  runGit(repo, ['apply', '--binary', '--index', changes.patchFile]);
  expect(readTree(repo)).toEqual(readTree(workspace.path));
  await other.apply(changes);
  expect(readTree(other.path)).toEqual(readTree(workspace.path));
  expect((await other.changes()).files).toEqual(changes.files);
  rmSync(repo, { recursive: true });
});
