import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { type Keep, readExcerpt } from './excerpt.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'excerpt-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const keeps: Keep[] = ['head', 'tail', 'both'];

test('keeps both ends within the limit, and cuts no code point', async () => {
  const file = join(folder, 'text');
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter, maxLength: 60 }),
      fc.constantFrom(...keeps),
      fc.nat({ max: 80 }),
      async (text, keep, limit) => {
        // A byte order mark at the start belongs to the encoding, not to the text.
        fc.pre(!text.includes('\ufeff') && !text.includes('\ufffd'));
        await writeFile(file, text);
        const excerpt = await readExcerpt(file, keep, limit);
        if (excerpt === undefined) throw new Error('A regular file was refused.');
        const { bytes, head, omitted_bytes, tail } = excerpt;
        expect(bytes).toBe(Buffer.byteLength(text));
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(Math.max(limit, 0));
        expect(omitted_bytes).toBe(Math.max(0, bytes - limit));
        if (bytes <= limit) expect(head + tail).toBe(text);
        // At most the rest of one code point is missing at each cut.
        else expect(Buffer.byteLength(head + tail)).toBeGreaterThanOrEqual(limit - 6);
      },
    ),
    { numRuns: 300 },
  );
});

test('does not follow a link, and does not wait for a pipe without a writer', async () => {
  await writeFile(join(folder, 'secret'), 'secret');
  await symlink(join(folder, 'secret'), join(folder, 'link'));
  await expect(readExcerpt(join(folder, 'link'), 'head', 100)).rejects.toThrow('ELOOP');
  await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
  expect(await readExcerpt(join(folder, 'pipe'), 'head', 100)).toBeUndefined();
  expect(await readExcerpt(folder, 'head', 100)).toBeUndefined();
});
