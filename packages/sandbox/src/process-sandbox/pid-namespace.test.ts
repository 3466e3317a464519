import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNodeLauncher } from '../process/node-launcher.ts';
import { createPidNamespaceContainment, withUtilLinux } from './pid-namespace.ts';

const canHide = (await createPidNamespaceContainment())?.canHide === true;

test.runIf(canHide)(
  'without Perl, util-linux holds a command and hides what is beside its folder',
  { tags: 'pid-namespaces' },
  () => {
    const common = mkdtempSync(join(tmpdir(), 'whetstone-namespace-'));
    try {
      const hiding = { common, own: join(common, 'own'), view: join(common, 'view') };
      for (const folder of [hiding.own, join(hiding.view, 'own')]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(common, 'AGENTS.md'), 'of another');
      const script = 'ls ..; echo $$; sleep 60 & exit 5';
      const [containment] = withUtilLinux();
      const launch = containment?.launch(['sh', '-c', script], { PATH: process.env.PATH ?? '' }, hiding);
      const { output, status } = spawnSync(launch?.file ?? '', launch?.args, {
        cwd: hiding.own,
        env: launch?.env,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
      expect([...output.slice(1), status]).toEqual([
        expect.stringMatching(/^own\n\d\n$/),
        '',
        'started\nexited 5\n',
        5,
      ]);
    } finally {
      rmSync(common, { recursive: true });
    }
  },
);

test.runIf(process.platform === 'linux')('without Perl, Node starts commands', async () => {
  const launcher = startNodeLauncher(() => undefined);
  const start = (file: string, ...args: string[]) =>
    launcher.start({ file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' }, outputs: [] });
  await expect((await start('sh', '-c', 'exit 3')).exited).resolves.toBe(3);
  await expect((await start('sh', '-c', 'kill -9 $$')).exited).resolves.toBe(137);
  await expect(start('no-such-program-here')).rejects.toMatchObject({ code: 'ENOENT' });
});
