import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { goldScript } from './gold-script.ts';

type Reply = { text?: string; calls?: { tool: string; command: string }[] };
type Script = { play(request: { step: number; userText: string }): Reply };

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'latin1' });

/** Plays a script in a tree as an agent would. Returns the last text. */
async function play(source: string, tree: string, userText: string): Promise<string | undefined> {
  const address = `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
  const script: Script = (await import(address)).default;
  const home = join(tree, '../home');
  mkdirSync(home, { recursive: true });
  for (let step = 0; ; step += 1) {
    const { text, calls } = script.play({ step, userText });
    if (!calls) return text;
    for (const { command } of calls)
      execFileSync('sh', ['-c', command], { cwd: tree, env: { PATH: process.env.PATH, HOME: home } });
  }
}

test('the patch of the task that the prompt names is made, however long and of whatever bytes it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'whetstone-gold-'));
  const tree = join(folder, 'repo');
  mkdirSync(tree);
  git(tree, 'init', '-q');
  const text = (last: string) => `${'a line of text\n'.repeat(20_000)}${last}\n`;
  const write = (last: string) => {
    writeFileSync(join(tree, 'text'), text(last));
    writeFileSync(join(tree, 'bytes'), Buffer.from([0, 255, 10, 39, 34, last.length]));
    git(tree, 'add', '.');
  };
  write('old');
  git(tree, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'Start');
  write('newer');
  const patch = git(tree, 'diff', '--cached', '--binary', '--full-index', '-U20000');
  expect(patch.length).toBeGreaterThan(200_000);
  git(tree, 'reset', '-q', '--hard');
  const other = 'diff --git a/none b/none\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n';
  const source = goldScript([
    { prompt: 'Do it', patch: other },
    { prompt: 'Do it well.\n', patch: other },
    { prompt: 'Do it well.\n', patch },
  ]);
  expect(await play(source, tree, 'Some words.\nDo it well.')).toBe('Done.');
  expect(readFileSync(join(tree, 'text'), 'utf8')).toBe(text('newer'));
  expect(readFileSync(join(tree, 'bytes')).at(-1)).toBe(5);
  expect(git(tree, 'status', '--porcelain')).toBe(' M bytes\n M text\n');
  expect(await play(source, tree, 'Something else')).toBe('Which task is it?');
  rmSync(folder, { recursive: true });
});
