import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { briefFolder } from '@whetstone/sandbox/files';
import { expect, test, vi } from 'vitest';
import { makeTempDir } from './__fixtures__/test-repo.ts';
import { makeScratch, sweepScratch } from './scratch-folder.ts';

const hasPidNamespaces = ((): boolean => {
  try {
    execFileSync('unshare', ['--pid', '--fork', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** What a process that has ended called a folder of moments. */
function briefFolderOfEnded(): string {
  const program = `console.log((await import('@whetstone/sandbox/files')).briefFolder())`;
  const node = ['--input-type=module', '-e', program];
  return execFileSync(process.execPath, node, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
}

const LEASE = new URL('../record/lease.ts', import.meta.url).href;

/** Holds the lock of a folder, in the PID namespace that `launcher` gives it. */
async function holder(folder: string, launcher: readonly string[]): Promise<ChildProcess> {
  const program = `import { tryLease } from ${JSON.stringify(LEASE)};
    globalThis.lease = tryLease(${JSON.stringify(`${folder}.lock`)}, 'exclusive');
    console.log(globalThis.lease ? 'held' : 'busy'); setInterval(() => {}, 1000);`;
  const argv = [...launcher, process.execPath, '--input-type=module-typescript', '-e', program];
  const child = spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  expect(String((await once(child.stdout, 'data'))[0])).toBe('held\n');
  return child;
}

test.runIf(hasPidNamespaces)(
  'folders are swept when nobody holds their lock, in whatever PID namespace their process is',
  { tags: 'pid-namespaces' },
  async () => {
    const folder = makeTempDir();
    vi.stubEnv('TMPDIR', folder);
    const own = await makeScratch();
    expect(statSync(own.directory).mode & 0o777).toBe(0o700);
    const elsewhere = join(folder, 'whetstone-00000000000000a1');
    const killed = join(folder, 'whetstone-00000000000000a2');
    const others = ['whetstone-00000000000000a3', 'whetstone-1-2-x', 'whetstone-brief-new'].map((name) =>
      join(folder, name),
    );
    const old = join(folder, 'whetstone-brief-old');
    const ours = join(folder, briefFolder());
    const ended = join(folder, briefFolderOfEnded());
    others.push(ours);
    for (const path of [elsewhere, killed, ...others, old, ended]) mkdirSync(path);
    writeFileSync(`${killed}.lock`, '');
    utimesSync(old, 0, 0);
    const live = await holder(elsewhere, ['unshare', '--pid', '--fork', '--kill-child']);
    const existing = () => [own.directory, elsewhere, killed, old, ended].map((path) => existsSync(path));
    await sweepScratch();
    // The second sweep shows that the first one has not ended a lock.
    await sweepScratch();
    expect(existing()).toEqual([true, true, false, false, false]);
    expect(others.every((path) => existsSync(path))).toBe(true);
    live.kill('SIGKILL');
    await once(live, 'close');
    await expect.poll(() => sweepScratch().then(existing)).toEqual([true, false, false, false, false]);
    await own[Symbol.asyncDispose]();
    expect(readdirSync(folder).toSorted()).toEqual(others.map((path) => basename(path)).toSorted());
  },
);
