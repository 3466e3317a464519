import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitsNamed, withoutReferences } from './references.ts';

const left = (text: string, ...commits: string[]) => withoutReferences(text, new Set(commits));
const kept = (text: string) => ({ text, unsure: [] });

test('numbers of issues are taken out', () => {
  expect(left('Lines end too early (#123). Fixes #1234 and #7; see me/tool#3456, issue #2048.')).toEqual(
    kept('Lines end too early . ; , issue .'),
  );
  expect(left('As in #2405, the last line is lost.').text).toBe('As in , the last line is lost.');
});

test.each([
  'Use `color: #123` and background="#445566".',
  'The page is #fff, and #a1b2c3d4 where it is #12345678a long.',
  'The entity &#123; of https://example.com/a/page.html#123 is a brace.',
  'The id 123e4567-e89b-12d3-a456-426614174000 and the mask 0x1f2e3d4c stay.',
  'A defaced facade of 20240131 stays effaced.',
])('colours, hexadecimal numbers and words stay: %s', (text) => {
  expect(left(text)).toEqual(kept(text));
});

test('what may be a reference or something else stays and is for a person to look at', () => {
  const text = 'The colour of a link is #123456 as in "#333", and its hash is 1a2b3c4d5.';
  expect(left(text)).toEqual({
    text,
    unsure: [
      'has #123456, which may be the number of an issue or a colour',
      'has #333, which may be the number of an issue or a colour',
      'has 1a2b3c4d5, which may be a commit id',
    ],
  });
  expect(left('It broke in commit 1a2b3c4d5.')).toEqual(kept('It broke in commit .'));
});

test('ids of commits are those that the repository knows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'references-'));
  const run = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  try {
    run('init', '-q');
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
    run(...identity, 'commit', '-q', '--allow-empty', '-m', 'one');
    const id = run('rev-parse', 'HEAD').trim();
    const text = `Since ${id.slice(0, 9)} the mask is 1a2b3c4d5, and defaced stays.`;
    const known = await commitsNamed(folder, [text, `${id}`]);
    expect([...known]).toEqual([id.slice(0, 9), id]);
    expect(left(text, ...known).text).toBe('Since  the mask is 1a2b3c4d5, and defaced stays.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
