import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { applyPatch } from './apply-patch.ts';

type Files = Record<string, string>;

type Scenario = {
  name: string;
  before?: Files;
  /** The lines between the markers, or the whole text where it begins with something else. */
  patch: string[];
  /** The files afterwards. */
  after?: Files;
  /** What the refusal says; the files stay as they were. */
  refused?: RegExp;
};

const accepted: Scenario[] = [
  {
    name: 'adds a file with its folders, each line ended',
    patch: ['*** Add File: src/deep/a.txt', '+one', '+', '+two'],
    after: { 'src/deep/a.txt': 'one\n\ntwo\n' },
  },
  { name: 'adds an empty file', patch: ['*** Add File: empty'], after: { empty: '' } },
  {
    name: 'adds over an existing file',
    before: { a: 'old\n' },
    patch: ['*** Add File: a', '+new'],
    after: { a: 'new\n' },
  },
  {
    name: 'deletes a file',
    before: { a: '1\n', b: '2\n' },
    patch: ['*** Delete File: a'],
    after: { b: '2\n' },
  },
  {
    name: 'does several operations',
    before: { a: 'one\n', b: 'x\n' },
    patch: ['*** Add File: c', '+new', '*** Update File: a', '@@', '-one', '+two', '*** Delete File: b'],
    after: { a: 'two\n', c: 'new\n' },
  },
  {
    name: 'applies several chunks in the order of the file',
    before: { a: 'one\ntwo\nthree\nfour\n' },
    patch: ['*** Update File: a', '@@', '-one', '+ONE', '@@', ' three', '-four', '+FOUR'],
    after: { a: 'ONE\ntwo\nthree\nFOUR\n' },
  },
  {
    name: 'takes a first chunk without a marker',
    before: { a: 'one\n' },
    patch: ['*** Update File: a', '-one', '+two'],
    after: { a: 'two\n' },
  },
  {
    name: 'finds the place by its context line',
    before: { a: 'def f\n  x\ndef g\n  x\n' },
    patch: ['*** Update File: a', '@@ def g', '-  x', '+  y'],
    after: { a: 'def f\n  x\ndef g\n  y\n' },
  },
  {
    name: 'narrows by stacked context lines',
    before: { a: 'class A\n  def f\n    x\nclass B\n  def f\n    x\n' },
    patch: ['*** Update File: a', '@@ class B', '@@   def f', '-    x', '+    y'],
    after: { a: 'class A\n  def f\n    x\nclass B\n  def f\n    y\n' },
  },
  {
    name: 'lets the context line be the first changed line too',
    before: { a: 'A = 30\ndef f():\n  x = 1\n' },
    patch: ['*** Update File: a', '@@ A = 30', '-A = 30', '+A = 60', '@@ def f():', '-  x = 1', '+  x = 2'],
    after: { a: 'A = 60\ndef f():\n  x = 2\n' },
  },
  {
    name: 'renames with changes, into a new folder, and takes the mode along',
    before: { 'old/a': 'one\n' },
    patch: ['*** Update File: old/a', '*** Move to: new/b', '@@', '-one', '+two'],
    after: { 'new/b': 'two\n' },
  },
  {
    name: 'moves over an existing file',
    before: { a: 'one\n', b: 'other\n' },
    patch: ['*** Update File: a', '*** Move to: b', '@@', '-one', '+two'],
    after: { b: 'two\n' },
  },
  {
    name: 'keeps a file that is moved onto itself',
    before: { a: 'one\n' },
    patch: ['*** Update File: a', '*** Move to: ./a', '@@', '-one', '+two'],
    after: { a: 'two\n' },
  },
  {
    name: 'appends what has no lines to look for',
    before: { a: 'one\ntwo\n' },
    patch: ['*** Update File: a', '@@', '+three'],
    after: { a: 'one\ntwo\nthree\n' },
  },
  {
    name: 'appends behind a blank last line too, whatever the context says',
    before: { a: 'one\ntwo\n\n' },
    patch: ['*** Update File: a', '@@ one', '+three'],
    after: { a: 'one\ntwo\n\nthree\n' },
  },
  {
    name: 'puts a replacement in front of what was added at the end',
    before: { a: 'one\ntwo\n' },
    patch: ['*** Update File: a', '@@', '+three', '@@', '-two', '+TWO'],
    after: { a: 'one\nTWO\nthree\n' },
  },
  {
    name: 'keeps its place behind the context of an addition',
    before: { a: 'x\ny\nx\n' },
    patch: ['*** Update File: a', '@@ y', '+end', '@@', '-x', '+X'],
    after: { a: 'x\ny\nX\nend\n' },
  },
  {
    name: 'ends the last line',
    before: { a: 'one\ntwo' },
    patch: ['*** Update File: a', '@@', ' one', '-two', '+three'],
    after: { a: 'one\nthree\n' },
  },
  {
    name: 'removes all lines and keeps the file',
    before: { a: 'one\n' },
    patch: ['*** Update File: a', '@@', '-one'],
    after: { a: '' },
  },
  {
    name: 'matches at the end of the file where that is asked',
    before: { a: 'x\nmark\nx\n' },
    patch: ['*** Update File: a', '@@', '-x', '+y', '*** End of File'],
    after: { a: 'x\nmark\ny\n' },
  },
  {
    name: 'prefers a later exact match to an earlier loose one',
    before: { a: '  x\nx\n' },
    patch: ['*** Update File: a', '@@', '-x', '+y'],
    after: { a: '  x\ny\n' },
  },
  {
    name: 'ignores trailing blanks and keeps those of context lines',
    before: { a: 'one  \ntwo\t\n' },
    patch: ['*** Update File: a', '@@', ' one', '-two', '+three'],
    after: { a: 'one  \nthree\n' },
  },
  {
    name: 'ignores indentation and keeps that of context lines',
    before: { a: '    one\n    two\n' },
    patch: ['*** Update File: a', '@@', ' one', '-two', '+    three'],
    after: { a: '    one\n    three\n' },
  },
  {
    name: 'ignores typographic punctuation and keeps that of context lines',
    before: { a: 'say “hi” – now\nit’s\u00a0two\n' },
    patch: ['*** Update File: a', '@@', ' say "hi" - now', "-it's two", '+three'],
    after: { a: 'say “hi” – now\nthree\n' },
  },
  {
    name: 'keeps the line ends of the file, and takes a patch with CRLF',
    before: { a: 'one\r\ntwo\r\nthree\n' },
    patch: ['*** Update File: a\r', '@@\r', ' one\r', '-two\r', '+TWO\r'],
    after: { a: 'one\r\nTWO\r\nthree\n' },
  },
  {
    name: 'keeps a byte order mark',
    before: { a: '\ufeffone\n' },
    patch: ['*** Update File: a', '@@', '-one', '+two'],
    after: { a: '\ufefftwo\n' },
  },
  {
    name: 'reads an empty line as an empty line of context',
    before: { a: 'one\n\ntwo\n' },
    patch: ['*** Update File: a', '@@', ' one', '', '-two', '+three'],
    after: { a: 'one\n\nthree\n' },
  },
  {
    name: 'forgives a blank line between sections',
    before: { a: 'one\n', b: 'x\n' },
    patch: ['*** Update File: a', '@@', '-one', '+two', '', '*** Update File: b', '@@', '-x', '+y'],
    after: { a: 'two\n', b: 'y\n' },
  },
  {
    name: 'puts what has only a missing blank line to go by at the end of the file',
    before: { a: 'one\ntwo\n' },
    patch: ['*** Update File: a', '@@', '-', '+three', '@@', '-one', '+ONE'],
    after: { a: 'ONE\ntwo\nthree\n' },
  },
  {
    name: 'puts it behind the context that it names',
    before: { a: 'one\ntwo\n' },
    patch: ['*** Update File: a', '@@ one', '-', '+three'],
    after: { a: 'one\nthree\ntwo\n' },
  },
  {
    name: 'does not add the blank line again that it replaces',
    before: { a: 'one\n' },
    patch: ['*** Update File: a', '@@', ' one', '-', '+two', '+'],
    after: { a: 'one\ntwo\n' },
  },
  {
    name: 'takes the end of the file only behind the chunk before',
    before: { a: '\n' },
    patch: ['*** Update File: a', '@@', '-', '+one', '@@', '-', '+two', '*** End of File'],
    after: { a: 'one\ntwo\n' },
  },
  {
    name: 'takes blanks around headers and markers',
    before: { a: 'one\n' },
    patch: ['  *** Begin Patch ', ' *** Update File:  a  ', '@@', '-one', '+two', ' *** End Patch  '],
    after: { a: 'two\n' },
  },
  {
    name: 'unwraps a heredoc',
    patch: ["<<'EOF'", '*** Begin Patch', '*** Add File: a', '+one', '*** End Patch', 'EOF'],
    after: { a: 'one\n' },
  },
  {
    name: 'passes over an environment id',
    patch: ['*** Environment ID: box-1', '*** Add File: a', '+one'],
    after: { a: 'one\n' },
  },
];

const refused: Scenario[] = [
  { name: 'an empty patch', patch: [], refused: /No files were modified/ },
  {
    name: 'a text that is not a patch',
    patch: ['hello', 'world'],
    refused: /first line of the patch must be/,
  },
  {
    name: 'text behind the end',
    patch: ['*** Begin Patch', '*** Add File: a', '+x', '*** End Patch', 'bye'],
    refused: /last line of the patch must be/,
  },
  {
    name: 'an unknown header',
    patch: ['*** Frobnicate File: a'],
    refused: /line 2: .* is not a valid hunk header/,
  },
  {
    name: 'a line of a new file without a plus',
    patch: ['*** Add File: a', '+one', 'two'],
    refused: /line 4: 'two' is not a valid hunk header/,
  },
  {
    name: 'an update without chunks',
    before: { a: 'x\n' },
    patch: ['*** Update File: a'],
    refused: /is empty/,
  },
  {
    name: 'a marker without lines',
    before: { a: 'x\n' },
    patch: ['*** Update File: a', '@@'],
    refused: /does not contain any lines/,
  },
  {
    name: 'a line that is neither context nor change',
    before: { a: 'x\n' },
    patch: ['*** Update File: a', '@@', '\tx'],
    refused: /Unexpected line found/,
  },
  {
    name: 'a later chunk without a marker',
    before: { a: 'x\ny\n' },
    patch: ['*** Update File: a', '@@', '-x', 'nonsense', '-y'],
    refused: /Expected update hunk to start with a @@ context marker, got: 'nonsense'/,
  },
  {
    name: 'a file that is not there',
    patch: ['*** Update File: a', '@@', '-x', '+y'],
    refused: /File not found: a/,
  },
  { name: 'a deletion of nothing', patch: ['*** Delete File: a'], refused: /File not found: a/ },
  {
    name: 'a deletion of a folder',
    before: { 'd/a': 'x' },
    patch: ['*** Delete File: d'],
    refused: /is a directory/,
  },
  {
    name: 'a new file over a folder',
    before: { 'd/a': 'x' },
    patch: ['*** Add File: d', '+x'],
    refused: /is a directory/,
  },
  {
    name: 'lines that are not in the file',
    before: { a: 'x\n' },
    patch: ['*** Update File: a', '@@', ' nope', '-x'],
    refused: /Failed to find expected lines in a:\nnope\nx/,
  },
  {
    name: 'a context that is not in the file',
    before: { a: 'x\n' },
    patch: ['*** Update File: a', '@@ nope', '-x'],
    refused: /Failed to find context 'nope' in a/,
  },
  {
    name: 'an end of file that is none',
    before: { a: 'x\ny\n' },
    patch: ['*** Update File: a', '@@', '-x', '+z', '*** End of File'],
    refused: /Failed to find expected lines/,
  },
  {
    name: 'chunks against the order of the file',
    before: { a: 'one\ntwo\n' },
    patch: ['*** Update File: a', '@@', '-two', '@@', '-one'],
    refused: /Failed to find expected lines/,
  },
  {
    name: 'two operations on one file',
    before: { a: 'x\n' },
    patch: ['*** Update File: a', '@@', '-x', '+y', '*** Delete File: ./a'],
    refused: /multiple operations target/,
  },
  {
    name: 'a move onto a file that another section changes',
    before: { a: 'x\n', b: 'y\n' },
    patch: ['*** Update File: a', '*** Move to: b', '@@', '-x', '+z', '*** Delete File: b'],
    refused: /multiple operations target/,
  },
  {
    name: 'a binary file',
    before: { a: 'x\0y\n' },
    patch: ['*** Update File: a', '@@', '-x', '+y'],
    refused: /is a binary file/,
  },
  {
    name: 'everything when the last section fails',
    before: { a: 'one\n', b: 'x\n' },
    patch: [
      '*** Add File: new',
      '+1',
      '*** Update File: a',
      '@@',
      '-one',
      '+two',
      '*** Update File: b',
      '@@',
      '-no',
    ],
    refused: /Failed to find expected lines in b/,
  },
];

function patchText(lines: readonly string[]): string {
  const whole = /^\s*\*\*\* Begin Patch|^<<|^hello/.test(lines[0] ?? '');
  return (whole ? lines : ['*** Begin Patch', ...lines, '*** End Patch']).join('\n');
}

async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), content);
  }
}

async function readFiles(directory: string): Promise<Files> {
  const files: Files = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) files[path.relative(directory, file)] = await readFile(file, 'utf8');
  }
  return files;
}

test.each(accepted)('$name', async ({ before = {}, patch, after }) => {
  await using place = await temporaryEnvironment();
  await writeFiles(place.directory, before);
  await applyPatch(place.environment, patchText(patch));
  expect(await readFiles(place.directory)).toEqual(after);
});

test.each(refused)('refuses $name', async ({ before = {}, patch, refused: reason }) => {
  await using place = await temporaryEnvironment();
  await writeFiles(place.directory, before);
  await expect(applyPatch(place.environment, patchText(patch))).rejects.toThrow(reason);
  expect(await readFiles(place.directory)).toEqual(before);
});

test('a file that is not UTF-8 is refused and untouched', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), new Uint8Array([0x61, 0xe9, 0x0a]));
  const patch = patchText(['*** Update File: a', '@@', '-a', '+b']);
  await expect(applyPatch(place.environment, patch)).rejects.toThrow(/not valid UTF-8/);
  expect([...(await readFile(place.path('a')))]).toEqual([0x61, 0xe9, 0x0a]);
});

test('the mode stays, also through a move, and a link stays a link', async () => {
  await using place = await temporaryEnvironment();
  await writeFiles(place.directory, { 'tool.sh': 'one\n', target: 'one\n' });
  await chmod(place.path('tool.sh'), 0o755);
  await symlink('target', place.path('link'));
  await applyPatch(
    place.environment,
    patchText([
      ...['*** Update File: tool.sh', '*** Move to: bin/tool', '@@', '-one', '+two'],
      ...['*** Update File: link', '@@', '-one', '+two'],
    ]),
  );
  expect((await stat(place.path('bin/tool'))).mode & 0o777).toBe(0o755);
  expect((await lstat(place.path('link'))).isSymbolicLink()).toBe(true);
  expect(await readFile(place.path('target'), 'utf8')).toBe('two\n');
});

test('two names of one file count as one', async () => {
  await using place = await temporaryEnvironment();
  await writeFiles(place.directory, { target: 'one\n' });
  await symlink('target', place.path('link'));
  const patch = patchText(['*** Update File: link', '@@', '-one', '+two', '*** Delete File: target']);
  await expect(applyPatch(place.environment, patch)).rejects.toThrow(/multiple operations target/);
});

test('the outcome names what changed and what went to the end of a file', async () => {
  await using place = await temporaryEnvironment();
  await writeFiles(place.directory, { a: 'one\n', b: 'x\n', c: 'y\n' });
  const patch = patchText([
    ...['*** Delete File: b', '*** Update File: a', '@@', '+two'],
    ...['*** Update File: c', '*** Move to: d', '@@', '-y', '+z', '*** Add File: e', '+new'],
  ]);
  expect(await applyPatch(place.environment, patch)).toEqual({
    changes: [
      { change: 'deleted', path: 'b' },
      { change: 'modified', path: 'a' },
      { change: 'renamed', path: 'd', from: 'c' },
      { change: 'added', path: 'e' },
    ],
    notes: ['a: lines without context were added at the end of the file'],
  });
});
