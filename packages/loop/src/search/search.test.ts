import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { EnvironmentWrapper } from '../environment/environment-wrapper.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { ReadOnlyExecutionEnvironment } from '../environment/wrappers.ts';
import { searchFiles } from './ripgrep-search.ts';
import type { SearchQuery } from './text-search.ts';
import { walkFiles } from './walk-files.ts';

const signal = new AbortController().signal;

/** An environment that cannot start a program, such as one in memory. */
class WithoutCommands extends EnvironmentWrapper {
  protected override async around<T>(
    operation: Parameters<EnvironmentWrapper['around']>[0],
    run: () => Promise<T>,
  ): Promise<T> {
    if ('command' in operation) throw new Error('there are no commands here');
    return await run();
  }
}

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

const places: { name: string; around: (inner: ExecutionEnvironment) => ExecutionEnvironment }[] = [
  { name: 'on this machine', around: (inner) => inner },
  { name: 'in an environment without commands', around: (inner) => new WithoutCommands(inner) },
];

describe.each(places)('a search $name', ({ around }) => {
  const search = (environment: ExecutionEnvironment, ...rest: [string, SearchQuery, AbortSignal]) =>
    searchFiles(around(environment), ...rest);

  test('finds lines in the order of the paths and respects ignore files', async () => {
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

  test('lists files, counts matches, filters by glob, ignores case', async () => {
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

  test('searches below a folder with the rules above it, and a single file', async () => {
    await using place = await treeEnvironment();
    const below = await search(place.environment, place.path('keep'), query({}), signal);
    expect(below.hits.map((hit) => hit.path)).toEqual(['important.log', 'only-root.txt']);
    const single = await search(place.environment, place.path('debug.log'), query({}), signal);
    expect(single.hits).toEqual([{ path: 'debug.log', line: 1, text: 'needle' }]);
  });

  test('says when there is more, and what is wrong with a pattern', async () => {
    await using place = await treeEnvironment();
    const { hits, more } = await search(place.environment, place.directory, query({ maxResults: 2 }), signal);
    expect([hits.length, more]).toEqual([2, true]);
    const bad = search(place.environment, place.directory, query({ pattern: '(' }), signal);
    await expect(bad).rejects.toThrow(/./);
    await expect(bad).rejects.toMatchObject({ code: 'search-pattern-invalid' });
  });
});

test('a read-only environment searches as its inner one does', async () => {
  await using place = await treeEnvironment();
  const readOnly = new ReadOnlyExecutionEnvironment(place.environment);
  const asked = [place.directory, query({}), signal] as const;
  expect(await searchFiles(readOnly, ...asked)).toEqual(await searchFiles(place.environment, ...asked));
  await expect(readOnly.exec(['rg', 'needle'])).rejects.toThrow(/read-only/);
});

test('a pattern that backtracks forever is given up and its file named', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), `x${'a'.repeat(5_000)}!\n`);
  const { hits, skipped } = await searchFiles(
    place.environment,
    place.directory,
    query({ pattern: '(?<=x)(a+)+$' }),
    signal,
  );
  expect(hits).toEqual([]);
  expect(skipped).toEqual([{ path: 'a', reason: expect.stringMatching(/limit/) }]);
});

test('a walk ends with its signal', async () => {
  await using place = await treeEnvironment();
  const walk = walkFiles(place.environment, place.directory, AbortSignal.abort());
  await expect(walk.next()).rejects.toThrow(/abort/i);
});

test('a pipe is refused, because reading it would wait forever', async () => {
  await using place = await temporaryEnvironment();
  execFileSync('mkfifo', [place.path('pipe')]);
  const asked = searchFiles(place.environment, place.path('pipe'), query({}), signal);
  await expect(asked).rejects.toThrow(/is a device, a pipe or a socket/);
});

describe('every environment finds the same in a nasty tree', () => {
  const files: Record<string, string | Buffer> = {
    '.gitignore': '*.log\n',
    'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n',
    'crlf.txt': 'ends in needle\r\nneedle not\r\nneedle\r\n',
    'docs/b.md': 'wo\nthr a.b( \r\nno go\nso',
    'early.bin': Buffer.from('\0needle\n'),
    'late.bin': `needle\n${'x\n'.repeat(10_000)}\0\nneedle\n`,
    'latin.txt': Buffer.from('needle \xe9\n', 'latin1'),
    'name\nof two lines.txt': 'needle\n',
    'out.log': 'needle o\n',
    'src/c.ts': 'aXb(\na.b(\nfoo\nzoo\n',
    'utf-16.txt': Buffer.from('\ufeffneedle sixteen\n', 'utf16le'),
    'ünï: 1.txt': 'needle – “x”\tNeedle\n',
  };
  const cases: Record<string, Partial<SearchQuery>> = {
    'a word': {},
    'the end of a line': { pattern: 'needle$' },
    'inline flags': { pattern: '(?i)^NEEDLE' },
    'a POSIX class': { pattern: 'needle[[:space:]]+[[:alpha:]]' },
    'look-behind': { pattern: '(?<=in )needle' },
    'a back-reference': { pattern: '(.)\\1dle' },
    'files with a match': { mode: 'files_with_matches' },
    counts: { mode: 'count' },
    context: { pattern: 'three|seven', before: 1, after: 2 },
    'context that meets': { pattern: 'two|five', before: 1, after: 1 },
    'a limit amid context': { pattern: 'e', maxResults: 3, after: 1 },
    'the matching parts': { pattern: '[a-z]o', onlyMatching: true },
    'plain text': { pattern: 'a.b(', literal: true },
    'several lines': { pattern: 'two.*four', multiline: true },
    'several lines, the matching parts': { pattern: 'wo\\nthr', multiline: true, onlyMatching: true },
    'a limit per file': { pattern: 'o', maxPerFile: 2 },
    'a count with a limit': { pattern: 'o', maxPerFile: 2, mode: 'count' },
    'files by kind': { pattern: 'o', fileGlobs: ['*.md', '*.ts'], mode: 'files_with_matches' },
    'files to leave out': { pattern: 'o', excludeGlob: 'docs/**', mode: 'files_with_matches' },
    'ignored files too': { noIgnore: true, mode: 'files_with_matches' },
  };
  let place: Awaited<ReturnType<typeof temporaryEnvironment>>;
  beforeAll(async () => {
    place = await temporaryEnvironment();
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(place.path(name)), { recursive: true });
      await writeFile(place.path(name), content);
    }
    execFileSync('mkfifo', [place.path('pipe')]);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  test.each(Object.entries(cases))('%s', async (_name, given) => {
    const asked = [place.directory, query(given), signal] as const;
    const here = await searchFiles(place.environment, ...asked);
    expect(here.hits.length).toBeGreaterThan(0);
    expect(await searchFiles(new WithoutCommands(place.environment), ...asked)).toEqual(here);
  });

  test('what is found, and what is named because it is not shown', async () => {
    const { hits, skipped } = await searchFiles(place.environment, place.directory, query({}), signal);
    expect(Object.fromEntries(hits.map(({ path: file, text }) => [file, text]))).toEqual({
      'crlf.txt': 'needle',
      'latin.txt': 'needle \ufffd',
      'name\nof two lines.txt': 'needle',
      'utf-16.txt': 'needle sixteen',
      'ünï: 1.txt': 'needle – “x”\tNeedle',
    });
    const reason = 'a binary file that matches';
    expect(skipped).toEqual([
      { path: 'early.bin', reason },
      { path: 'late.bin', reason },
    ]);
  });

  test('a large file is searched to its end', async () => {
    const large = Buffer.concat([
      Buffer.alloc(36_000_000, 'filler line\n'),
      Buffer.from('needle at the end\n'),
    ]);
    await writeFile(place.path('docs/large.txt'), large);
    for (const environment of [place.environment, new WithoutCommands(place.environment)]) {
      const { hits } = await searchFiles(environment, place.path('docs'), query({}), signal);
      expect(hits).toEqual([{ path: 'large.txt', line: 3_000_001, text: 'needle at the end' }]);
    }
  });
});
