import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { applyPatch } from '../apply-patch/apply-patch.ts';
import { EnvironmentWrapper } from '../environment/environment-wrapper.ts';
import { editFile } from '../tools/edit-file-tool.ts';
import { writeWholeFile } from '../tools/write-file-tool.ts';

const edit = {
  oldText: 'one',
  newText: 'two',
  all: false,
  allOption: 'replace_all',
  writeTool: 'write_file',
};
const add = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+one\n*** End Patch`;

/** Fails some renames and writes, as a full disk or a mount does, and runs something before each operation. */
class FailingEnvironment extends EnvironmentWrapper {
  fails: (to: string, from?: string) => boolean = () => false;
  before: (method: string, path: string) => Promise<void> = async () => {};

  protected override async around<T>(
    operation: Parameters<EnvironmentWrapper['around']>[0],
    run: () => Promise<T>,
  ): Promise<T> {
    if ('path' in operation) await this.before(operation.method, operation.path);
    const isRefused =
      (operation.method === 'rename' && this.fails(operation.to, operation.path)) ||
      (operation.method === 'writeBytes' && this.fails(operation.path));
    if (isRefused) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
    return await run();
  }
}

test('a pipe and a socket are refused by every tool that writes, and stay what they are', async () => {
  await using place = await temporaryEnvironment();
  const { environment } = place;
  execFileSync('mkfifo', [place.path('pipe')]);
  await using server = createServer().listen(place.path('socket'));
  await once(server, 'listening');
  for (const path of ['pipe', 'socket']) {
    const refused = /is a device, a pipe or a socket. Only regular files/;
    await expect(writeWholeFile(environment, path, 'x')).rejects.toThrow(refused);
    await expect(editFile(environment, path, edit)).rejects.toThrow(refused);
    await expect(applyPatch(environment, add(path))).rejects.toThrow(refused);
  }
  expect((await lstat(place.path('pipe'))).isFIFO()).toBe(true);
  expect((await lstat(place.path('socket'))).isSocket()).toBe(true);
});

test('a symbolic link stays one, and its target is written also where there is none yet', async () => {
  await using place = await temporaryEnvironment();
  const { environment } = place;
  await writeFile(place.path('real'), 'one');
  await symlink('real', place.path('link'));
  await symlink('missing', place.path('dangling'));
  await symlink('missing-too', place.path('dangling-too'));
  await editFile(environment, 'link', edit);
  await writeWholeFile(environment, 'dangling', 'three');
  await applyPatch(environment, add('dangling-too'));
  expect(await readFile(place.path('real'), 'utf8')).toBe('two');
  expect(await readFile(place.path('missing'), 'utf8')).toBe('three');
  expect(await readFile(place.path('missing-too'), 'utf8')).toBe('one\n');
  await symlink('no-folder/file', place.path('astray'));
  await expect(writeWholeFile(environment, 'astray', 'five')).rejects.toThrow(
    'astray: is a symbolic link into a folder that does not exist. Make the folder first',
  );
  expect(await readlink(place.path('astray'))).toBe('no-folder/file');
  expect(await readlink(place.path('dangling'))).toBe('missing');
  expect(await readlink(place.path('dangling-too'))).toBe('missing-too');
});

/** Sets or reads an extended attribute, which Node cannot; Perl has the system calls, but no names for their numbers. */
function userAttribute(file: string, value?: string): string {
  const [set, get] = process.arch === 'arm64' ? [5, 8] : [188, 191];
  const names = 'my ($f, $v) = @ARGV; my $k = "user.note";';
  const program =
    value === undefined
      ? `${names} my $b = " " x 64; my $n = syscall(${get}, $f, $k, $b, 64); print substr($b, 0, $n) if $n > 0`
      : `${names} syscall(${set}, $f, $k, $v, length($v), 0) == 0 or die $!`;
  return execFileSync('perl', ['-e', program, file, ...(value === undefined ? [] : [value])], {
    encoding: 'utf8',
  });
}

test('an edited file is replaced in one step, through its links, with its permissions and extended attributes', {
  tags: 'linux',
}, async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('real'));
  const file = place.path('real/a');
  await writeFile(file, 'one');
  await chmod(file, 0o751);
  await symlink('real/a', place.path('link'));
  userAttribute(file, 'kept');
  const before = await stat(file);
  await using reader = await open(file);
  await editFile(place.environment, 'link', edit);
  // Whoever has the file open reads all of the old one.
  expect(await reader.readFile('utf8')).toBe('one');
  const after = await stat(file);
  expect(after.ino).not.toBe(before.ino);
  expect(after).toMatchObject({ mode: before.mode, uid: before.uid, gid: before.gid });
  expect(userAttribute(file)).toBe('kept');
  await writeWholeFile(place.environment, 'link', 'three');
  await applyPatch(
    place.environment,
    '*** Begin Patch\n*** Update File: link\n@@\n-three\n+four\n*** End Patch',
  );
  expect(userAttribute(file)).toBe('kept');
  expect(await readFile(file, 'utf8')).toBe('four\n');
  expect((await lstat(place.path('link'))).isSymbolicLink()).toBe(true);
  expect(await readdir(place.path('real'))).toEqual(['a']);
});

test('hard links and permissions of an edited file stay', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one');
  await chmod(place.path('a'), 0o751);
  await link(place.path('a'), place.path('b'));
  const { ino } = await stat(place.path('a'));
  await editFile(place.environment, 'a', edit);
  await writeWholeFile(place.environment, 'b', 'three');
  expect(await readFile(place.path('a'), 'utf8')).toBe('three');
  expect(await stat(place.path('a'))).toMatchObject({ ino, nlink: 2, mode: 0o100751 });
});

test('the owner of an edited file stays', { tags: ['root'] }, async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one');
  await chown(place.path('a'), 1234, 4321);
  await editFile(place.environment, 'a', edit);
  expect(await stat(place.path('a'))).toMatchObject({ uid: 1234, gid: 4321 });
});

test('a file whose replacement is refused can be edited, as below a mount', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one');
  const environment = new FailingEnvironment(place.environment);
  environment.before = async (method) => {
    if (method === 'rename') throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
  };
  await editFile(environment, 'a', edit);
  expect(await readFile(place.path('a'), 'utf8')).toBe('two');
});

test('a patch that fails halfway changes nothing and leaves no file or folder behind', async () => {
  await using place = await temporaryEnvironment();
  for (const name of ['a', 'b', 'c', 'd']) await writeFile(place.path(name), `${name}\n`);
  const before = await stat(place.path('c'));
  const patch = [
    ...['*** Begin Patch', '*** Add File: x/y/new', '+new', '*** Update File: a', '@@', '-a', '+A'],
    ...['*** Delete File: c', '*** Update File: d', '*** Move to: z/d', '@@', '-d', '+D'],
    ...['*** Update File: b', '@@', '-b', '+B', '*** End Patch'],
  ].join('\n');
  const environment = new FailingEnvironment(place.environment);
  for (const name of ['b', 'z/d', 'x/y/new', 'a']) {
    environment.fails = (path) => path === place.path(name);
    await expect(applyPatch(environment, patch)).rejects.toThrow(/is busy/);
    expect((await readdir(place.directory)).sort()).toEqual(['a', 'b', 'c', 'd']);
    for (const file of ['a', 'b', 'c', 'd'])
      expect(await readFile(place.path(file), 'utf8')).toBe(`${file}\n`);
  }
  // The removals come last: the second of them fails.
  environment.fails = (_to, from) => from === place.path('d');
  await expect(applyPatch(environment, patch)).rejects.toThrow(/is busy/);
  expect((await readdir(place.directory)).sort()).toEqual(['a', 'b', 'c', 'd']);
  expect((await stat(place.path('c'))).ino).toBe(before.ino);

  environment.fails = () => false;
  await applyPatch(environment, patch);
  expect((await readdir(place.directory)).sort()).toEqual(['a', 'b', 'x', 'z']);
});

test('a patch that cannot be taken back names the files that it has changed', async () => {
  await using place = await temporaryEnvironment();
  for (const name of ['a', 'b']) await writeFile(place.path(name), `${name}\n`);
  const environment = new FailingEnvironment(place.environment);
  let isBroken = false;
  environment.fails = (path) => {
    isBroken ||= path === place.path('b');
    return isBroken;
  };
  const patch =
    '*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Update File: b\n@@\n-b\n+B\n*** End Patch';
  await expect(applyPatch(environment, patch)).rejects.toThrow(
    /b: is busy.*These files are changed.*: a\.$/s,
  );
  expect(await readFile(place.path('a'), 'utf8')).toBe('A\n');
});

test('a path that is empty or leads through a file is refused with the reason', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one\n');
  for (const path of ['a/b', 'a/b/c'])
    await expect(writeWholeFile(place.environment, path, 'x')).rejects.toThrow(`${path}: a is not a folder`);
  await expect(writeWholeFile(place.environment, '', 'x')).rejects.toThrow('The path is empty. Name a file.');
  await expect(editFile(place.environment, '', edit)).rejects.toThrow('The path is empty. Name a file.');
  expect(await readdir(place.directory)).toEqual(['a']);
});

test('an edit of a file that somebody else changes meanwhile is refused with the difference', async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('src'));
  await writeFile(place.path('src/a'), 'zero\none\n');
  const environment = new FailingEnvironment(place.environment);
  let reads = 0;
  environment.before = async (method) => {
    if (method === 'readBytes' && reads++ === 1) await writeFile(place.path('src/a'), 'zero\none\nother\n');
  };
  await expect(editFile(environment, 'src/a', edit)).rejects.toThrow(/changed by somebody else.*\+other/s);
  expect(await readFile(place.path('src/a'), 'utf8')).toBe('zero\none\nother\n');
});
