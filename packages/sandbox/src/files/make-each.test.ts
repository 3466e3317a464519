import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeEach } from './make-each.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'make-each-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('makes a folder and those above it, and none again', () => {
  const made = join(folder, 'a/b/c');
  makeEach(made, 0o700);
  makeEach(made);
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(made).isDirectory()).toBe(true);
});

test('is refused where a file has its place, or that of a folder above it', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeEach(join(folder, 'file'))).toThrow(/EEXIST/);
  expect(() => makeEach(join(folder, 'file/x/y'))).toThrow(/ENOTDIR/);
});

test.runIf(process.platform === 'linux')('ends where the system makes no folder', { tags: 'linux' }, () => {
  expect(() => makeEach('/proc/none/such')).toThrow(/ENOENT/);
});
