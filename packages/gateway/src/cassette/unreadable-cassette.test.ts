import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCassette } from './cassette.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cassettes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['a.jsonl', 'hello', 'a.jsonl:1', 'the line is not JSON. It begins with "hello".', 'record it again'],
  [
    'b.jsonl',
    '\u001b]0;title\u0007',
    'b.jsonl:1',
    'begins with "\\u001b]0;title\\u0007".',
    'record it again',
  ],
  ['c.jsonl', '\u009b31m', 'c.jsonl:1', 'begins with "\\u009b31m".', 'record it again'],
  ['d.jsonl', Buffer.from('00ff80', 'hex'), 'd.jsonl', 'it is not text', 'record it again'],
  ['e.jsonl', zstdCompressSync('{}'), 'e.jsonl', 'it is compressed with zstd', 'end with `.zst`'],
  ['f.jsonl.zst', '{}', 'f.jsonl.zst', 'it is not compressed with zstd', 'Remove `.zst`'],
])(
  '%s, which is not a recording, is an error that says how to mend it',
  async (name, content, where, message, hint) => {
    const file = join(folder, name);
    await writeFile(file, content);
    await expect(readCassette(file)).rejects.toMatchObject({
      code: 'cassette-unreadable',
      where: join(folder, where),
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  },
);

test('a folder in place of a recording is one as well', async () => {
  await expect(readCassette(folder)).rejects.toMatchObject({
    where: folder,
    hint: 'Name the file in the folder that has the recording.',
  });
});
