import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMask } from '@whetstone/sandbox';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytesOf, makeTempDir, readTree, writeTree } from '../workspace/__fixtures__/test-repo.ts';
import { passMasked } from './keep-file.ts';
import { keepFolder } from './keep-folder.ts';

const mask = createMask(['canary-secret']);
let root: string;
let source: string;
let target: string;
beforeEach(() => {
  root = makeTempDir();
  source = join(root, 'source');
  target = join(root, 'target');
  mkdirSync(source);
});
afterEach(() => execFileSync('rm', ['-rf', root]));

test('an empty output directory is not copied', async () => {
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([]);
  expect(readdirSync(root)).toEqual(['source']);
});

test('files, folders, links and names of any bytes are kept as they are', async () => {
  writeTree(source, {
    'a/b/file.txt': 'text\n',
    'caf\xe9': Buffer.from([0, 255]),
    link: { link: '/etc/passwd' },
  });
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([]);
  expect(readTree(target)).toEqual(readTree(source));
  expect(lstatSync(join(target, 'link')).isSymbolicLink()).toBe(true);
});

test('special files are left out with a note, so a pipe cannot stall the harness', async () => {
  execFileSync('mkfifo', [join(source, 'pipe')]);
  writeTree(source, { 'z.txt': 'still kept' });
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([
    'output/pipe was left out: it is not a regular file',
  ]);
  expect(readFileSync(join(target, 'z.txt'), 'utf8')).toBe('still kept');
});

test('an output directory that is missing or a symlink is not followed', async () => {
  rmSync(source, { recursive: true });
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([
    'output: the folder cannot be read',
  ]);
  mkdirSync(join(root, 'elsewhere'));
  writeTree(join(root, 'elsewhere'), { 'private.txt': 'private' });
  symlinkSync(join(root, 'elsewhere'), source);
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([
    'output: the folder cannot be read',
  ]);
  expect(readdirSync(root).sort()).toEqual(['elsewhere', 'source']);
});

test('a tree deeper than a path can name is kept as far as it can be named', async () => {
  const deep = `for (let depth = 0; depth < 60; depth++) {
    fs.mkdirSync('${'d'.repeat(100)}'); process.chdir('${'d'.repeat(100)}'); }`;
  execFileSync(process.execPath, ['-e', deep], { cwd: source });
  writeFileSync(join(source, 'top.txt'), 'top');
  // Above, both are too deep; below, only the longer one is.
  const notes = await keepFolder(source, target, { mask, name: 'output' });
  const longer = await keepFolder(source, join(root, 'l'.repeat(200)), { mask, name: 'output' });
  for (const said of [notes, longer])
    expect(said).toEqual([expect.stringMatching(/^output\/d.*(cannot be|left out)/)]);
  expect(readFileSync(join(target, 'top.txt'), 'utf8')).toBe('top');
});

test('bytes and number of entries are limited', async () => {
  writeTree(source, { '1.txt': '12345', '2.bin': 'x'.repeat(100), '3.txt': '67890', '4.txt': '' });
  expect(
    await keepFolder(source, target, { mask, name: 'output', limits: { bytes: 10, entries: 3 } }),
  ).toEqual([
    'output/2.bin was left out: the output is too large',
    'output: everything after the first 3 entries was left out',
  ]);
  expect(readdirSync(target).sort()).toEqual(['1.txt', '3.txt']);
});

test('a sparse file is not read', async () => {
  execFileSync('truncate', ['-s', '1T', join(source, 'sparse')]);
  expect(await keepFolder(source, target, { mask, name: 'output' })).toEqual([
    'output/sparse was left out: the output is too large',
  ]);
});

test('of names that are equal once a secret is masked, the first is kept', async () => {
  writeTree(source, { 'canary-secret': 'first', '[masked]x': 'other' });
  rmSync(bytesOf(join(source, '[masked]x')));
  writeTree(source, { '[masked]': 'second' });
  expect(await keepFolder(source, target, { mask, name: 'output' })).toHaveLength(1);
  expect(readTree(target)).toEqual({ '[masked]': 'file second' });
});

test('a stream is masked as a whole, whatever its chunks, and "masked" is reported exactly then', async () => {
  const piece = fc.constantFrom('canary-', 'secret', 'canary-secret', 'c', ' ', '[masked]');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const chunks: Buffer[] = [];
      const found = await passMasked(streamOf(pieces), mask, async (chunk) => {
        chunks.push(chunk);
      });
      const whole = Buffer.from(pieces.join(''));
      expect(Buffer.concat(chunks)).toEqual(mask.bytes(whole));
      expect(found).toBe(mask.bytes(whole).equals(whole) ? 'same' : 'masked');
    }),
  );
});

async function* streamOf(pieces: string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

test('.git is left out, because its compressed objects may hold secrets; programs stay programs', async () => {
  writeTree(source, { '.git/objects/aa': 'x', 'sub/.git': 'x', 'run.sh': { exec: 'true\n' } });
  expect(await keepFolder(source, target, { mask, name: 'workspace' })).toEqual([]);
  expect(readdirSync(target)).toEqual(['run.sh', 'sub']);
  expect(readdirSync(join(target, 'sub'))).toEqual([]);
  expect(lstatSync(join(target, 'run.sh')).mode & 0o777).toBe(0o700);
});
