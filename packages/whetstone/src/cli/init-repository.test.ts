import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { initCommand } from './init.ts';

test('init says what a run needs as long as there is no commit', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'init-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd });
  const init = async () => {
    const stdout = new PassThrough();
    const options = { directory: '.', yes: true, force: true };
    await initCommand(
      options,
      { stdin: new PassThrough(), stdout },
      { cwd, env: { PATH: process.env.PATH } },
    );
    stdout.end();
    return await text(stdout);
  };
  const said = 'A run needs a Git repository with a commit: git init && git add --all && git commit\n';
  try {
    expect(await init()).toContain(said);
    git('init', '--quiet');
    expect(await init()).toContain(said);
    git('add', '--all');
    git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '-m', 'Begin');
    expect(await init()).not.toContain(said);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
