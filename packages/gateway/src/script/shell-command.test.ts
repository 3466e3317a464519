import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import type { NeutralCall } from './script.ts';
import { shellCommand } from './shell-command.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-shell-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const run = (call: NeutralCall): string =>
  execFileSync('sh', ['-c', shellCommand(call)], { cwd: directory, encoding: 'utf8', stdio: 'pipe' });

/** A shell argument cannot hold a NUL. */
const content = fc.string({ unit: anyCharacter, maxLength: 60 }).filter((text) => !text.includes('\0'));

test('any content is written unchanged, into folders that did not exist, and read back', () => {
  fc.assert(
    fc.property(content, (text) => {
      run({ tool: 'write', path: "new folder/it's.txt", content: text });
      expect(readFileSync(join(directory, "new folder/it's.txt"), 'utf8')).toBe(text);
      expect(run({ tool: 'read', path: "new folder/it's.txt" })).toBe(text);
    }),
    { numRuns: 15 },
  );
});

test('any text is replaced by any other text, and the rest of the file stays, including newlines at its end', () => {
  const file = join(directory, '-edited.txt');
  const nonEmpty = content.filter((text) => text !== '');
  fc.assert(
    fc.property(content, nonEmpty, content, content, (before, find, replace, after) => {
      const first = (before + find + after).indexOf(find);
      writeFileSync(file, before + find + after);
      run({ tool: 'edit', path: './-edited.txt', find, replace });
      const expected = before + find + after;
      expect(readFileSync(file, 'utf8')).toBe(
        expected.slice(0, first) + replace + expected.slice(first + find.length),
      );
    }),
    { numRuns: 15 },
  );
});

test('shell patterns in a text have no meaning', () => {
  writeFileSync(join(directory, 'glob.txt'), 'a*b[c]?\n$HOME `id`\n');
  run({ tool: 'edit', path: 'glob.txt', find: '*b[c]?', replace: '\\1 & "$x"' });
  expect(readFileSync(join(directory, 'glob.txt'), 'utf8')).toBe('a\\1 & "$x"\n$HOME `id`\n');
});

test.each([
  ['text that does not occur', 'glob2.txt', 'text to replace not found'],
  ['a file that does not exist', 'missing.txt', 'missing.txt'],
])('an edit of %s fails and says so', (_what, path, message) => {
  writeFileSync(join(directory, 'glob2.txt'), 'other');
  expect(() => run({ tool: 'edit', path, find: 'absent', replace: 'x' })).toThrow(message);
  expect(readFileSync(join(directory, 'glob2.txt'), 'utf8')).toBe('other');
});
