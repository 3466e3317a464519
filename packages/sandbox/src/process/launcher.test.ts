import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { launcherMounts, makesNamespaces, rememberFolders, startProgram } from './launcher.ts';

const run = (file: string, args: readonly string[]) =>
  startProgram({ file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' } });

test('a program that is missing has the code of spawn', async () => {
  await expect(run('no-such-program-here', [])).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a program gets its arguments and its whole environment as they are', async () => {
  const env = { EMPTY: '', LINES: 'a\n=b\n', PATH: process.env.PATH ?? '', WORD: 'ä ö' };
  const args = ['-e', 'console.log(JSON.stringify([process.argv.slice(1), process.env]))', '', 'a\nb', '0'];
  const { stdout, exited } = await startProgram({ file: process.execPath, args, cwd: '/', env });
  expect([JSON.parse(await text(stdout)), await exited]).toEqual([[args.slice(2), env], 0]);
});

test('a program is found in the folders of its own PATH, and a script needs no first line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  try {
    writeFileSync(join(folder, 'greet'), 'echo "hello $1"\n', { mode: 0o755 });
    writeFileSync(join(folder, 'plain'), 'echo no\n', { mode: 0o644 });
    const start = (file: string, env: Record<string, string>) =>
      startProgram({ file, args: ['you'], cwd: folder, env });
    for (const [file, path] of [
      ['greet', `/nowhere::/usr/bin`],
      ['greet', `/nowhere:${folder}`],
      ['./greet', '/nowhere'],
    ] as const) {
      const { stdout, exited } = await start(file, { PATH: path });
      expect([await text(stdout), await exited]).toEqual(['hello you\n', 0]);
    }
    const { stdout, exited } = await start('echo', {});
    expect([await text(stdout), await exited]).toEqual(['you\n', 0]);
    await expect(start('greet', { PATH: '/nowhere' })).rejects.toMatchObject({
      ...{ code: 'ENOENT', message: expect.stringContaining('spawn greet: ') },
    });
    await expect(start('plain', { PATH: folder })).rejects.toMatchObject({ code: 'EACCES' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.runIf(process.platform === 'linux')(
  'what a launcher ran counts as killed when the launcher is, and the next program gets another one',
  { tags: 'linux' },
  async () => {
    const { pid, exited } = await run('sleep', ['60']);
    const [launcher = ''] = /(?<=\) \S )\d+/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    expect(Number(launcher)).not.toBe(process.pid);
    process.kill(Number(launcher), 'SIGKILL');
    expect(await exited).toBe(137);
    process.kill(pid, 'SIGKILL');
    const next = await run('echo', ['again']);
    expect([await text(next.stdout), await next.exited]).toEqual(['again\n', 0]);
  },
);

test.runIf(makesNamespaces)(
  'a process that is killed before it has opened its pipes leaves no folder',
  { tags: 'linux' },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
    const [launcher, pipes] = ['perl-launcher', 'named-pipes'].map((name) =>
      JSON.stringify(new URL(`./${name}.ts`, import.meta.url).href),
    );
    const program = `
      import { perl, startPerlLauncher } from ${launcher};
      import { createNamedPipes } from ${pipes};
      import { readdirSync } from 'node:fs';
      const { makeFifos } = startPerlLauncher(perl, () => {});
      await createNamedPipes(async (folder, paths) => {
        await makeFifos(folder, paths);
        console.log(readdirSync(folder).length);
        process.kill(process.pid, 'SIGKILL');
      })([false]);`;
    try {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        env: { ...process.env, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      expect(Number(printed)).toBeGreaterThan(0);
      await expect.poll(() => readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test.runIf(makesNamespaces)('folders are remembered as they are', { tags: 'linux' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const file = join(second, 'inner', 'ä b\n');
  try {
    mkdirSync(first);
    mkdirSync(join(second, 'inner'), { recursive: true });
    symlinkSync('/etc/passwd', join(first, 'link'));
    writeFileSync(file, 'old');
    const remember = () => rememberFolders([first, second]);
    let isAsBefore = await remember();
    expect(await isAsBefore?.()).toBe(true);
    readFileSync(file);
    expect(await isAsBefore?.()).toBe(true);
    const { atime, mtime } = statSync(file);
    for (const change of [
      () => {
        writeFileSync(file, 'new');
        utimesSync(file, atime, mtime);
      },
      () => chmodSync(file, 0o600),
      () => writeFileSync(join(first, 'more'), ''),
      () => rmSync(join(first, 'link')),
      () => renameSync(join(first, 'more'), join(second, 'more')),
      () => renameSync(second, join(folder, 'third')),
    ]) {
      // The clock of change times advances every 10 ms, or more often.
      await setTimeout(30);
      change();
      expect(await isAsBefore?.()).toBe(false);
      isAsBefore = await remember();
    }
    // The second folder is gone.
    expect(isAsBefore).toBeUndefined();
    for (let index = 0; index < 2001; index += 1) writeFileSync(join(first, String(index)), '');
    expect(await rememberFolders([first])).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.runIf(makesNamespaces)(
  'nothing is known of folders after the launcher was killed',
  { tags: 'linux' },
  async () => {
    const isAsBefore = await rememberFolders([import.meta.dirname]);
    expect(await isAsBefore?.()).toBe(true);
    const { pid, exited } = await run('sleep', ['60']);
    const [launcher = ''] = /(?<=\) \S )\d+/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    process.kill(Number(launcher), 'SIGKILL');
    await exited;
    process.kill(pid, 'SIGKILL');
    expect(await isAsBefore?.()).toBe(false);
  },
);

test.runIf(makesNamespaces)('folders stay where a mount could not be ended', { tags: 'linux' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  const [kept, gone] = [join(folder, 'kept'), join(folder, 'gone')];
  for (const path of [kept, gone]) mkdirSync(join(path, 'inner'), { recursive: true });
  try {
    // Nothing is mounted there.
    const refused = launcherMounts()?.clear({ targets: [kept], folders: [kept, gone] });
    await expect(refused).rejects.toThrow('umount');
    const disk = { place: kept, target: gone, isLarge: false };
    await expect(launcherMounts()?.clear({ targets: [], disk, folders: [kept] })).rejects.toThrow('umount');
    expect(readdirSync(folder)).toEqual(['gone', 'kept']);
    expect(await launcherMounts()?.clear({ targets: [], folders: [gone] })).toBe(true);
    expect(readdirSync(folder)).toEqual(['kept']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
