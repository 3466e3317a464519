import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutputFile, type OutputFileOptions } from './output-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'output-file-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each<[string, OutputFileOptions, string]>([
  ['empties the file', {}, 'abcdef'],
  ['writes behind what the file holds', { append: true }, 'before abcdef'],
  [
    'keeps the limit, and says what is missing',
    { limit: 4 },
    'abcd\n[2 more bytes were printed and left out]\n',
  ],
])('an output file %s', (_, options, content) => {
  const path = join(folder, 'file');
  writeFileSync(path, 'before ');
  const file = new OutputFile(path, options);
  for (const chunk of ['abc', '', 'def']) file.write(Buffer.from(chunk));
  file.close();
  file.close();
  expect({ error: file.error, content: readFileSync(path, 'utf8') }).toEqual({ error: undefined, content });
});

test('an output file that cannot be opened has the error and takes output all the same', () => {
  const file = new OutputFile(join(folder, 'nowhere', 'file'));
  file.write(Buffer.from('x'));
  file.close();
  expect(file.error).toMatchObject({ code: 'ENOENT' });
});

test.runIf(existsSync('/dev/full'))('an output file on a full disk has the error', { tags: 'linux' }, () => {
  const file = new OutputFile('/dev/full');
  for (let count = 0; count < 2; count += 1) file.write(Buffer.from('x'));
  file.close();
  expect(file.error).toMatchObject({ code: 'ENOSPC' });
});
