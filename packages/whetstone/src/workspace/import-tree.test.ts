import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir, runGit } from './__fixtures__/test-repo.ts';
import { makeGitDirectory } from './git-directory.ts';
import { commitTree, importTree } from './import-tree.ts';

test.each(['sha1', 'sha256'] as const)(
  'a tree without edits has the commit that git makes of it (%s)',
  async (format) => {
    const gitDir = join(makeTempDir(), 'git');
    mkdirSync(gitDir);
    makeGitDirectory(gitDir, { format });
    const blob = runGit(gitDir, ['hash-object', '-w', '--stdin'], 'content\n').trim();
    const tree = runGit(gitDir, ['mktree'], `100644 blob ${blob}\tfile\n`).trim();
    const made = commitTree(gitDir, tree);
    expect(runGit(gitDir, ['cat-file', 'commit', made])).toContain('\n\nInitial commit\n');
    runGit(gitDir, ['fsck', '--strict', made]);
    const { commit } = await importTree(gitDir, {
      start: { tree },
      root: gitDir,
      edits: [],
      ref: 'refs/heads/main',
    });
    expect(made).toBe(commit);
  },
);
