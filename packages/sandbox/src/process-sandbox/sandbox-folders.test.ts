import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeSandboxFolders, removeSandboxFolders } from './sandbox-folders.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'folders-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

test('folders are removed, empty or with something in them', async () => {
  const untouched = makeSandboxFolders(scratch, { workdir: tmpdir() }, { canHide: false });
  const used = makeSandboxFolders(scratch, { workdir: tmpdir() }, { canHide: false });
  mkdirSync(join(used.home, '.cache/deep'), { recursive: true });
  await Promise.all([removeSandboxFolders(untouched), removeSandboxFolders(used)]);
  expect(readdirSync(scratch)).toEqual([]);
});

test('they are around the workspace if its folder is in the scratch folder', async () => {
  const workdir = join(scratch, 'own/repo');
  mkdirSync(workdir, { recursive: true });
  const folders = makeSandboxFolders(scratch, { workdir }, { canHide: true });
  expect(dirname(folders.root)).toBe(join(scratch, 'own'));
  expect(readdirSync(folders.hiding?.view ?? '')).toEqual(['own']);
  await removeSandboxFolders(folders);
  expect(readdirSync(scratch, { recursive: true }).sort()).toEqual(['own', 'own/repo']);
});

test('the folder at which commands see their tree must not be a link', () => {
  const [workdir, users, at] = [join(scratch, 'own/repo'), join(scratch, 'users'), join(scratch, 'seen/at')];
  for (const folder of [workdir, users, dirname(at)]) mkdirSync(folder, { recursive: true });
  symlinkSync(users, at);
  expect(() => makeSandboxFolders(scratch, { workdir, at }, { canHide: true })).toThrow('is not yours');
});

test('a link in the place of the home is removed and not followed', async () => {
  const users = join(scratch, 'users-own');
  mkdirSync(users);
  writeFileSync(join(users, '.gitconfig'), '[user]\n');
  const folders = makeSandboxFolders(scratch, { workdir: tmpdir() }, { canHide: false });
  rmSync(folders.home, { recursive: true });
  symlinkSync(users, folders.home);
  await removeSandboxFolders(folders);
  expect(existsSync(folders.root)).toBe(false);
  expect(readdirSync(users)).toEqual(['.gitconfig']);
});
