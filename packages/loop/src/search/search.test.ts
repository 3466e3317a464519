import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { searchWithOwnEngine } from './own-search.ts';
import { hasRipgrep, searchWithRipgrep } from './ripgrep-search.ts';
import type { SearchQuery } from './text-search.ts';
import { walkFiles } from './walk-files.ts';

const signal = new AbortController().signal;
const ripgrepIsThere = await hasRipgrep(new LocalExecutionEnvironment());

const tree: Record<string, string> = {
  '.gitignore': '*.log\nbuild/\n/only-root.txt\n',
  '.hidden/note.md': 'needle in a hidden folder\n',
  '.git/config': 'needle\n',
  'a.txt': 'Needle\r\nno\r\nneedle two\r\n',
  'build/out.txt': 'needle\n',
  'build/out.ts': 'needle\n',
  'debug.log': 'needle\n',
  'keep/.gitignore': '!important.log\nsecret.txt\n',
  'keep/important.log': 'needle kept\n',
  'keep/secret.txt': 'needle\n',
  'keep/only-root.txt': 'needle here\n',
  'only-root.txt': 'needle\n',
  'binary.bin': 'needle\0',
  'sub/.ignore': 'skip.txt\n',
  'sub/skip.txt': 'needle\n',
  'sub/deep/b.ts': 'const needle = 1;\nneedle: two\n',
  'sub/ünï cödé.ts': 'needle ünï\n',
  'sub-x/c.ts': 'needle x\n',
};

async function treeEnvironment() {
  const place = await temporaryEnvironment();
  for (const [name, content] of Object.entries(tree)) {
    await mkdir(path.dirname(place.path(name)), { recursive: true });
    await writeFile(place.path(name), content);
  }
  await symlink('../a.txt', place.path('sub/link.txt'));
  return place;
}

const query = (given: Partial<SearchQuery>): SearchQuery => ({
  pattern: 'needle',
  caseInsensitive: false,
  maxResults: 100,
  mode: 'content',
  ...given,
});

const engines = [
  { name: 'our own engine', search: searchWithOwnEngine, skip: false },
  { name: 'ripgrep', search: searchWithRipgrep, skip: !ripgrepIsThere },
];

describe.each(engines)('$name', { tags: 'ripgrep' }, ({ search, skip }) => {
  test.skipIf(skip)('finds lines in the order of the paths and respects ignore files', async () => {
    await using place = await treeEnvironment();
    const { hits, more } = await search(place.environment, place.directory, query({}), signal);
    expect(more).toBe(false);
    expect(hits).toEqual([
      { path: '.hidden/note.md', line: 1, text: 'needle in a hidden folder' },
      { path: 'a.txt', line: 3, text: 'needle two' },
      { path: 'keep/important.log', line: 1, text: 'needle kept' },
      { path: 'keep/only-root.txt', line: 1, text: 'needle here' },
      { path: 'sub/deep/b.ts', line: 1, text: 'const needle = 1;' },
      { path: 'sub/deep/b.ts', line: 2, text: 'needle: two' },
      { path: 'sub/ünï cödé.ts', line: 1, text: 'needle ünï' },
      { path: 'sub-x/c.ts', line: 1, text: 'needle x' },
    ]);
  });

  test.skipIf(skip)('lists files, counts matches, filters by glob, ignores case', async () => {
    await using place = await treeEnvironment();
    const run = async (given: Partial<SearchQuery>) =>
      (await search(place.environment, place.directory, query(given), signal)).hits;
    expect(await run({ mode: 'files_with_matches', globFilter: '*.ts' })).toEqual([
      { path: 'sub/deep/b.ts' },
      { path: 'sub/ünï cödé.ts' },
      { path: 'sub-x/c.ts' },
    ]);
    expect(await run({ mode: 'count', globFilter: 'sub/**/*.ts' })).toEqual([
      { path: 'sub/deep/b.ts', count: 2 },
      { path: 'sub/ünï cödé.ts', count: 1 },
    ]);
    expect(await run({ caseInsensitive: true, globFilter: 'a.txt' })).toHaveLength(2);
    expect(await run({ pattern: '^\\w+: two$' })).toEqual([
      { path: 'sub/deep/b.ts', line: 2, text: 'needle: two' },
    ]);
    expect(await run({ pattern: 'absent' })).toEqual([]);
  });

  test.skipIf(skip)('searches below a folder with the rules above it, and a single file', async () => {
    await using place = await treeEnvironment();
    const below = await search(place.environment, place.path('keep'), query({}), signal);
    expect(below.hits.map((hit) => hit.path)).toEqual(['important.log', 'only-root.txt']);
    const single = await search(place.environment, place.path('debug.log'), query({}), signal);
    expect(single.hits).toEqual([{ path: 'debug.log', line: 1, text: 'needle' }]);
  });

  test.skipIf(skip)('says when there is more, and what is wrong with a pattern', async () => {
    await using place = await treeEnvironment();
    const { hits, more } = await search(place.environment, place.directory, query({ maxResults: 2 }), signal);
    expect([hits.length, more]).toEqual([2, true]);
    const bad = search(place.environment, place.directory, query({ pattern: '(' }), signal);
    await expect(bad).rejects.toThrow(/./);
    await expect(bad).rejects.toMatchObject({ code: 'search-pattern-invalid' });
  });
});

test('a pattern that backtracks forever is stopped', { timeout: 20_000 }, async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), `${'a'.repeat(50)}!\n`);
  const search = searchWithOwnEngine(
    place.environment,
    place.directory,
    query({ pattern: '^(a+)+$' }),
    signal,
  );
  await expect(search).rejects.toThrow(/takes too long/);
});

test('a walk ends with its signal', async () => {
  await using place = await treeEnvironment();
  const walk = walkFiles(place.environment, place.directory, AbortSignal.abort());
  await expect(walk.next()).rejects.toThrow(/abort/i);
});

describe('both engines say the same', () => {
  const cases: Record<string, Partial<SearchQuery>> = {
    context: { pattern: 'three|seven', before: 1, after: 2 },
    'context that meets': { pattern: 'two|five', before: 1, after: 1 },
    'a limit amid context': { pattern: 'e', maxResults: 3, after: 1 },
    'the matching parts': { pattern: '[a-z]o', onlyMatching: true },
    'plain text': { pattern: 'a.b(', literal: true },
    'several lines': { pattern: 'two.*four', multiline: true },
    'several lines, the matching parts': { pattern: 'wo\\nthr', multiline: true, onlyMatching: true },
    'a limit a file': { pattern: 'o', maxPerFile: 2 },
    'a count with a limit': { pattern: 'o', maxPerFile: 2, mode: 'count' },
    'files by kind': { pattern: 'o', fileGlobs: ['*.md', '*.ts'], mode: 'files_with_matches' },
    'files to leave out': { pattern: 'o', excludeGlob: 'docs/**', mode: 'files_with_matches' },
    'ignored files too': { pattern: 'o', noIgnore: true, mode: 'files_with_matches' },
  };
  test.skipIf(!ripgrepIsThere).each(Object.entries(cases))(
    '%s',
    { tags: 'ripgrep' },
    async (_name, given) => {
      await using place = await temporaryEnvironment();
      const files = {
        'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n',
        'docs/b.md': 'wo\nthr a.b( \r\nno go\nso',
        'src/c.ts': 'aXb(\na.b(\nfoo\nzoo\n',
        'out.log': 'o\n',
        '.gitignore': '*.log\n',
      };
      for (const [name, content] of Object.entries(files)) {
        await mkdir(path.dirname(place.path(name)), { recursive: true });
        await writeFile(place.path(name), content);
      }
      const asked = [place.environment, place.directory, query(given), signal] as const;
      const own = await searchWithOwnEngine(...asked);
      expect(own.hits.length).toBeGreaterThan(0);
      expect(await searchWithRipgrep(...asked)).toEqual(own);
    },
  );
});
