import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyPatch } from '@whetstone/loop';
import { conformanceChecks } from '@whetstone/loop/test';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import { describe, expect, test } from 'vitest';
import { startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import { createSandboxEnvironment } from './sandbox-environment.ts';

const environmentOf = (attempt: TestAttempt) =>
  createSandboxEnvironment(attempt.sandbox, { env: { MODE: 'fast' }, mask: createMask(['top-secret']) });

test.concurrent('commands run as shell script and argument vector, with output, exit code, time limit and abort', async () => {
  await using attempt = await startAttempt('');
  const environment = environmentOf(attempt);
  const seen: string[] = [];
  const options = { env: { EXTRA: 'yes' }, onOutput: ({ text }: { text: string }) => seen.push(text) };
  const result = await environment.exec(
    'set -o pipefail; [[ -n $MODE ]] && echo $MODE $EXTRA é; echo top-secret >&2; exit 3',
    options,
  );
  expect(result).toMatchObject({
    stdout: 'fast yes é\n',
    stderr: '[masked]\n',
    exitCode: 3,
    timedOut: false,
    droppedBytes: 0,
  });
  expect(seen.sort().join('')).toBe('[masked]\nfast yes é\n');
  await mkdir(join(attempt.workdir, 'sub'));
  const argv = await environment.exec(['printf', '%s', '$(id)'], { workingDirectory: 'sub' });
  expect(argv.stdout).toBe('$(id)');
  expect(await environment.exec('sleep 600', { timeoutMs: 100 })).toMatchObject({
    timedOut: true,
    exitCode: undefined,
  });
  expect(await environment.exec('sleep 600', { signal: AbortSignal.timeout(100) })).toMatchObject({
    aborted: true,
  });
});

test.concurrent('files can be read, written and renamed, and missing ones have their error codes', async () => {
  await using attempt = await startAttempt('');
  const environment = environmentOf(attempt);
  await environment.writeBytes('a/run.sh', Buffer.from('one'), { mode: 0o755 });
  await environment.writeBytes('a/run.sh', Buffer.from('two'));
  expect(await environment.stat('a/run.sh')).toMatchObject({ kind: 'file', size: 3, mode: 0o755 });
  expect(Buffer.from(await environment.readBytes(join(attempt.workdir, 'a/run.sh'))).toString()).toBe('two');
  await environment.mkdirp('b/c');
  await environment.rename('a/run.sh', 'b/c/moved');
  expect(await environment.listDirectory('b')).toEqual([{ name: 'c', kind: 'directory' }]);
  expect(await environment.stat('a/run.sh')).toBeUndefined();
  expect(await environment.realpath('b/./c/moved')).toBe(join(attempt.workdir, 'b/c/moved'));
  await environment.remove('b/c/moved');
  await expect(environment.readBytes('b/c/moved')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(environment.readBytes('b')).rejects.toMatchObject({ code: 'EISDIR' });
  await environment.writeBytes(join(attempt.sandbox.home, 'note'), Buffer.from('home'));
  expect(await attempt.sandbox.readFile('~/note')).toBe('home');
});

test.concurrent('no operation writes outside the workspace and the home', async () => {
  await using attempt = await startAttempt('');
  const environment = environmentOf(attempt);
  const victim = join(attempt.folder, 'victim');
  await writeFile(victim, 'untouched');
  await symlink(victim, join(attempt.workdir, 'link'));
  await symlink(attempt.folder, join(attempt.workdir, 'up'));
  const bytes = Buffer.from('x');
  for (const path of [victim, '../victim', 'link', 'up/victim', 'up/new', '/etc/new-file']) {
    await expect(environment.writeBytes(path, bytes)).rejects.toMatchObject({ code: 'sandbox-path-outside' });
  }
  await expect(environment.remove('up/victim')).rejects.toMatchObject({ code: 'sandbox-path-outside' });
  await expect(environment.mkdirp('up/folder')).rejects.toMatchObject({ code: 'sandbox-path-outside' });
  await expect(environment.removeDirectory?.('up/folder')).rejects.toMatchObject({
    code: 'sandbox-path-outside',
  });
  for (const [from, to] of [
    ['up/victim', 'here'],
    ['here', 'up/new'],
  ] as const)
    await expect(environment.copyAttributes?.(from, to)).rejects.toMatchObject({
      code: 'sandbox-path-outside',
    });
  await expect(environment.rename('up/victim', 'here')).rejects.toMatchObject({
    code: 'sandbox-path-outside',
  });
  expect(await readFile(victim, 'utf8')).toBe('untouched');
  await environment.remove('link');
  expect((await stat(victim)).isFile()).toBe(true);
});

test.concurrent('an edit by a tool replaces the file in one step, and a special file is refused', async () => {
  await using attempt = await startAttempt('');
  const environment = environmentOf(attempt);
  const file = join(attempt.workdir, 'a.sh');
  await writeFile(file, 'one\n', { mode: 0o751 });
  const before = await stat(file);
  const patch = (path: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-one\n+two\n*** End Patch`;
  await applyPatch(environment, patch('a.sh'));
  expect(await readFile(file, 'utf8')).toBe('two\n');
  const after = await stat(file);
  expect([after.ino === before.ino, after.mode]).toEqual([false, before.mode]);
  expect((await environment.listDirectory('.')).map(({ name }) => name)).toEqual(['a.sh']);

  await environment.exec('mkfifo pipe');
  for (const read of [environment.readBytes('pipe'), environment.readRange?.('pipe', 0, 1)])
    await expect(read).rejects.toThrow(/not a regular file/);
  await expect(applyPatch(environment, patch('pipe'))).rejects.toThrow(/is a device, a pipe or a socket/);
});

test.concurrent('files and commands meet where the sandbox shows its folder at another path', async () => {
  await using attempt = await startAttempt('');
  const own = join(attempt.folder, 'own');
  await mkdir(join(own, 'repo'), { recursive: true });
  const provider = await createProcessSandboxProvider({ scratch: join(attempt.folder, 'scratch') });
  const { neighbours } = await provider.describe();
  if (neighbours !== 'hidden') return;
  const at = join(attempt.folder, 'seen');
  await using sandbox = await provider.start({ workdir: join(own, 'repo'), at, env: {} });
  const environment = createSandboxEnvironment(sandbox, { env: {}, mask: createMask([]) });
  expect(environment.workingDirectory()).toBe(join(at, 'repo'));
  await environment.writeBytes(join(at, 'repo/a'), Buffer.from('written\n'));
  expect((await environment.exec(`pwd; cat ${at}/repo/a; ln -s ${at}/../.. out`)).stdout).toBe(
    `${at}/repo\nwritten\n`,
  );
  expect(String(await environment.readBytes('a'))).toBe('written\n');
  expect(await environment.realpath('a')).toBe(join(at, 'repo/a'));
  await expect(environment.writeBytes('out/x', Buffer.from(''))).rejects.toMatchObject({
    code: 'sandbox-path-outside',
  });
  expect(await environment.outputDirectory?.()).toBe(join(at, 's/home/.tool-output'));
});

test.concurrent('a background command ends with the sandbox, and its secrets are masked', async () => {
  await using attempt = await startAttempt('');
  const mask = createMask(['hunter2hunter2']);
  const environment = createSandboxEnvironment(attempt.sandbox, { env: {}, mask });
  const process = await environment.start?.('echo "key: hunter2hunter2"; cat; sleep 600');
  await process?.write('read back\n');
  let output = '';
  await expect
    .poll(async () => {
      output += (await process?.poll())?.output;
      return output;
    })
    .toContain('read back\n');
  expect(output).not.toContain('hunter2');
  await expect(environment.start?.('true', { terminal: true })).rejects.toThrow(/no terminal/);
  await expect(environment.start?.('true', { outputFile: '/etc/out.log' })).rejects.toMatchObject({
    code: 'sandbox-path-outside',
  });
  await attempt.sandbox.stop();
  expect((await process?.poll({ waitMs: 5_000 }))?.state.kind).toBe('exited');
  await expect(process?.write('x')).rejects.toThrow(/exited/);
});

describe('conforms to what the loop expects of an environment', () => {
  test.concurrent.each(conformanceChecks)('$area: $name', async ({ run }) => {
    await using attempt = await startAttempt('');
    await run(environmentOf(attempt));
  });
});
