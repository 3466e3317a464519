import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSafePath } from './safe-path.ts';

describe('checkSafePath', () => {
  it.each([
    ['AGENTS.md', 'AGENTS.md'],
    ['./docs//agents/', 'docs/agents'],
    ['.github/workflows/ci.yml', '.github/workflows/ci.yml'],
    ['.gitignore', '.gitignore'],
    ['docs/.gitkeep', 'docs/.gitkeep'],
    ['a b/ü/漢.md', 'a b/ü/漢.md'],
    ['console/nullable/auxiliary', 'console/nullable/auxiliary'],
    ['...a', '...a'],
  ])('takes %j', (text, path) => {
    expect(checkSafePath(text)).toEqual({ kind: 'safe', path });
  });

  it.each([
    ...[
      '',
      ' ',
      '.',
      './',
      '/',
      '//x',
      '/etc',
      '..',
      'a/..',
      'a/../b',
      '../x',
      'C:',
      'c:/x',
      'C:x',
      './C:',
      'a\\b',
      '\\\\x\\y',
    ],
    ...[
      'a\0b',
      'a\nb',
      '.git',
      '.GIT',
      '.git/config',
      'a/.Git/x',
      '.git.',
      '.git ',
      '.git...',
      '.git::$INDEX_ALLOCATION',
    ],
    ...[
      'git~1',
      'GIT~1/config',
      '.g\u200cit',
      '.\ufeffgit/x',
      'x.',
      'x ',
      'x./y',
      'con',
      'CON',
      'nul.txt',
      'a/Prn/b',
    ],
    ...['com1', 'LPT9.log', 'aux .md', 'COM¹', 'conin$'],
  ])('refuses %j', (text) => {
    expect(checkSafePath(text)).toMatchObject({ kind: 'unsafe', reason: expect.stringMatching(/\w/) });
  });

  it('returns only paths that stay inside and contain no .git, and returns such a path unchanged', () => {
    const segment = fc.constantFrom(
      'a',
      '..',
      '.',
      '',
      '.git',
      '.GIT',
      'b.c',
      ' ',
      'nul',
      'C:',
      '\\',
      '.git ',
      'git~1',
      '\u200d',
    );
    const path = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(segment).map((parts) => parts.join('/')),
    );
    fc.assert(
      fc.property(path, (text) => {
        const checked = checkSafePath(text);
        if (checked.kind === 'unsafe') return;
        expect(posix.normalize(`/root/${checked.path}`)).toBe(`/root/${checked.path}`);
        expect(checked.path.toLowerCase().split('/')).not.toContain('.git');
        expect(checkSafePath(checked.path)).toEqual(checked);
      }),
    );
  });
});
