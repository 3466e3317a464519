import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';

type FilePatch = { name: string; lines: { kind: string; text: string }[]; added: number; removed: number };
const {
  parsePatch,
  pathsOf,
}: {
  parsePatch: (lines: readonly string[]) => FilePatch[];
  pathsOf: (file: FilePatch) => { path: string; from: string | null };
} = await import(new URL('./parse-patch.js', import.meta.url).href);

const run = promisify(execFile);

test('has the same counts as git, even for lines that look like headers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patch-'));
  try {
    const line = fc.constantFrom(
      'a',
      'b',
      '',
      '-- c',
      '++ d',
      '@@ -1 +1 @@',
      'diff --git a/x b/x',
      '\\ No newline',
      ' e',
    );
    const content = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n'))
      .map(([all, end]) => all.join('\n') + end);
    await fc.assert(
      fc.asyncProperty(content, content, async (before, after) => {
        fc.pre(before !== after);
        await writeFile(join(folder, 'before'), before);
        await writeFile(join(folder, 'after'), after);
        const patch = await diff(folder);
        const [added, removed] = (await diff(folder, '--numstat')).split('\t').map(Number);
        const files = parsePatch(patch.trimEnd().split('\n'));
        expect(files).toHaveLength(1);
        expect([files[0]?.added, files[0]?.removed]).toEqual([added, removed]);
      }),
      { numRuns: 60 },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** `git diff --no-index` exits with 1 when there are differences. */
async function diff(cwd: string, ...options: string[]): Promise<string> {
  const ran = await run('git', ['diff', '--no-index', ...options, 'before', 'after'], { cwd }).catch(
    (error) => error,
  );
  return ran.stdout;
}

test('separates files, headers and hunks', () => {
  const files = parsePatch(
    'diff --git a/x b/x\nold mode 100644\nnew mode 100755\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,2 +1 @@ f()\n--- x\n keep'.split(
      '\n',
    ),
  );
  expect(files.map((file) => file.name)).toEqual(['a/x b/x', 'a/y b/y']);
  expect(files[1]?.lines.map((line) => line.kind)).toEqual([
    'header',
    'header',
    'hunk',
    'removed',
    'context',
  ]);
});

test.each([
  [
    String.raw`"a/\303\274n\303\257 \"q\".txt" "b/\303\274n\303\257 \"q\".txt"`,
    'a/ünï "q".txt b/ünï "q".txt',
  ],
  [String.raw`a/x "b/back\\slash"`, String.raw`a/x b/back\slash`],
  // A tab, a byte that is no text, and a sign that turns the direction of what follows.
  ...[
    String.raw`"a/\t" "b/\t"`,
    String.raw`"a/\377" "b/\377"`,
    String.raw`"a/\342\200\256x" "b/\342\200\256x"`,
  ].map((name) => [name, name]),
])('the names %s are shown as %s', (names, shown) => {
  expect(parsePatch([`diff --git ${names}`])[0]?.name).toBe(shown);
});

test('a file that Git renamed or copied has both paths', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patch-'));
  try {
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
    await git('init', '-q');
    await writeFile(join(folder, 'an old.txt'), 'one\ntwo\nthree\n');
    await writeFile(join(folder, 'ünï.txt'), 'four\nfive\nsix\n');
    await writeFile(join(folder, 'same.txt'), 'seven\n');
    await git('add', '.');
    await git('commit', '-qm', 'x');
    await git('mv', 'an old.txt', 'a new.txt');
    await git('mv', 'ünï.txt', 'ö.txt');
    await writeFile(join(folder, 'same.txt'), 'rename from x\n');
    const { stdout } = await git('diff', 'HEAD');
    expect(parsePatch(stdout.trimEnd().split('\n')).map(pathsOf)).toEqual([
      { from: 'an old.txt', path: 'a new.txt' },
      { from: null, path: 'same.txt' },
      { from: 'ünï.txt', path: 'ö.txt' },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each(['', 'no patch at all', '@@ -1,99999999999 +1 @@\nx', 'diff --git \ndiff --git '])(
  '%j does not throw',
  (text) => {
    const lines = text.split('\n');
    expect(parsePatch(lines).flatMap((file) => file.lines).length).toBeLessThanOrEqual(lines.length);
  },
);
