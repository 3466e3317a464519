import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { makesNamespaces, startProgram } from './launcher.ts';

const run = (file: string, args: readonly string[]) =>
  startProgram({ file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' } });

test('a program that is missing has the code of spawn', async () => {
  await expect(run('no-such-program-here', [])).rejects.toMatchObject({ code: 'ENOENT' });
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
