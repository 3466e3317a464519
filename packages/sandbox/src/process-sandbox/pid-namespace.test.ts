import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNodeLauncher } from '../process/node-launcher.ts';
import { createPidNamespaceContainment, withUtilLinux } from './pid-namespace.ts';
import { createProcessSandboxProvider } from './process-sandbox.ts';

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
      const launch = containment?.launch(['sh', '-c', script], { PATH: process.env.PATH ?? '' }, { hiding });
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

test.runIf(canHide)(
  'every sandbox can show its folder at the same path, whichever program makes the namespace',
  { tags: 'pid-namespaces' },
  async () => {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'whetstone-namespace-')));
    const [underUtilLinux] = withUtilLinux();
    try {
      const provider = await createProcessSandboxProvider({ scratch });
      for (const [name, at] of Object.entries({
        a: join(scratch, 'case'),
        b: join(scratch, '../at-other', 'x'),
      })) {
        const workdir = join(scratch, name, 'repo');
        const home = join(scratch, name, 'home');
        for (const folder of [workdir, home]) mkdirSync(folder, { recursive: true });
        writeFileSync(join(home, 'kept'), name);
        await using sandbox = await provider.start({ workdir, home, at, env: {} });
        const seen = [join(at, 'repo'), join(at, 'home'), join(at, 's/tmp')];
        expect([sandbox.workdir, sandbox.home, sandbox.hostPath(`${at}/repo/x`)]).toEqual([
          ...seen.slice(0, 2),
          join(workdir, 'x'),
        ]);
        const script = 'pwd; echo $HOME; echo $TMPDIR; cat ~/kept; echo y > x';
        const { stdout } = await sandbox.runShell(script);
        expect(stdout).toBe(`${seen.join('\n')}\n${name}`);
        // Also by the path of this machine.
        expect((await sandbox.runCommand('pwd', [], { cwd: workdir })).stdout).toBe(`${seen[0]}\n`);
        expect(await sandbox.readFile(`${at}/repo/x`)).toBe('y\n');
        expect(await sandbox.readFile('~/kept')).toBe(name);

        const view = join(scratch, 'view');
        for (const path of [name, 'case']) mkdirSync(join(view, path), { recursive: true });
        const hiding = { common: scratch, own: join(scratch, name), view, at };
        const place = { hiding, folder: seen[0] };
        const launch = underUtilLinux?.launch(['pwd'], { PATH: process.env.PATH ?? '' }, place);
        const { output } = spawnSync(launch?.file ?? '', launch?.args, {
          cwd: workdir,
          env: launch?.env,
          stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
          encoding: 'utf8',
        });
        expect(output[1]).toBe(`${seen[0]}\n`);
        rmSync(view, { recursive: true });
      }
      // The home belongs to the caller.
      expect(readdirSync(join(scratch, 'a')).sort()).toEqual(['home', 'repo']);
    } finally {
      for (const folder of [scratch, join(scratch, '../at-other')]) rmSync(folder, { recursive: true });
    }
  },
);

test.runIf(process.platform === 'linux')(
  'without Perl, Node starts commands',
  { tags: 'linux' },
  async () => {
    const launcher = startNodeLauncher(() => undefined);
    const start = (file: string, ...args: string[]) =>
      launcher.start({ file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' }, outputs: [] });
    await expect((await start('sh', '-c', 'exit 3')).exited).resolves.toBe(3);
    await expect((await start('sh', '-c', 'kill -9 $$')).exited).resolves.toBe(137);
    await expect(start('no-such-program-here')).rejects.toMatchObject({ code: 'ENOENT' });
  },
);
