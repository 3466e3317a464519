import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startProgram } from './launcher.ts';

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
