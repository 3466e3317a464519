import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { makeRepo, makeTempDir } from './__fixtures__/test-repo.ts';

const PROGRAM = join(import.meta.dirname, '__fixtures__/enter-namespace.ts');
const isLinux = process.platform === 'linux';
const isRoot = isLinux && process.getuid?.() === 0;
const unprivileged = ['--reuid=65534', '--regid=65534', '--clear-groups'];
const hasUserNamespaces =
  isRoot &&
  spawnSync('setpriv', [...unprivileged, 'unshare', '--user', '--map-current-user', '--mount', 'true'])
    .status === 0;
const hasNamespaces = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0;

const folders: string[] = [];
const keep = (folder: string) => {
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The processes in a mount namespace. */
function holdersOf(namespace: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/ns/mnt`) === namespace;
    } catch {
      return false;
    }
  });
}

const sampleRepo = () => keep(makeRepo({ file: 'x\n', gone: 'y\n' }));

describe('a mount namespace of its own', () => {
  test.skipIf(!hasNamespaces)('no other process sees the layered mounts', { tags: 'namespaces' }, () => {
    const scratch = keep(makeTempDir());
    const output = execFileSync(process.execPath, [PROGRAM, 'enter', sampleRepo(), scratch], {
      encoding: 'utf8',
    });
    const seen = JSON.parse(output);
    expect(seen).toMatchObject({
      uid: 0,
      isPrivate: true,
      environment: [],
      strategy: 'mount',
      mounts: 2,
      files: ['added added'],
      applied: 'x\n',
    });
    expect(seen.argv[0]).toBe('enter');
    expect(seen.namespace).not.toBe(readlinkSync('/proc/self/ns/mnt'));
    expect(readdirSync(scratch)).toEqual([]);
  });

  test.skipIf(!hasNamespaces)(
    'the mounts are gone when the process is killed',
    { tags: 'namespaces' },
    async () => {
      const scratch = keep(makeTempDir());
      const child = spawn(process.execPath, [PROGRAM, 'enter', sampleRepo(), scratch, 'hold'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      const seen = JSON.parse(line);
      expect(seen).toMatchObject({ pid: child.pid, strategy: 'mount', mounts: 2 });
      expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(scratch);
      child.kill('SIGKILL');
      await once(child, 'exit');
      // A mount lives as long as its namespace, and a namespace as long as a process in it.
      await expect.poll(() => holdersOf(seen.namespace)).toEqual([]);
    },
  );

  test.skipIf(!isLinux)('without one, workspaces are not layered mounts', { tags: 'linux' }, () => {
    const output = execFileSync(process.execPath, [PROGRAM, 'stay', sampleRepo(), keep(makeTempDir())], {
      encoding: 'utf8',
    });
    const seen = JSON.parse(output);
    expect(seen).toMatchObject({ isPrivate: false, mounts: 0, files: ['added added'], applied: 'x\n' });
    expect(['copy', 'reflink']).toContain(seen.strategy);
  });
});

describe('as a user without privileges', () => {
  const run = (mode: string, scratch: string) => {
    const repo = sampleRepo();
    execFileSync('chown', ['-R', '65534:65534', scratch]);
    chmodSync(repo, 0o755);
    const args = [...unprivileged, process.execPath, PROGRAM, mode, repo, scratch];
    return JSON.parse(execFileSync('setpriv', args, { encoding: 'utf8' }));
  };

  test.skipIf(!hasUserNamespaces)('layered mounts in a user namespace', { tags: 'root' }, () => {
    const scratch = keep(makeTempDir());
    expect(run('enter', scratch)).toMatchObject({
      uid: 65534,
      isPrivate: true,
      environment: [],
      strategy: 'mount',
      mounts: 2,
      files: ['added added'],
      applied: 'x\n',
    });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test.skipIf(!isRoot)('copies of a repository of another owner', { tags: 'root' }, () => {
    const scratch = keep(makeTempDir());
    expect(run('stay', scratch)).toMatchObject({
      uid: 65534,
      isPrivate: false,
      mounts: 0,
      files: ['added added'],
    });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test.skipIf(!isRoot)('files that an agent locked are seen and removed', { tags: 'root' }, () => {
    const folder = keep(makeTempDir());
    const repo = keep(makeRepo({ 'folder/file': 'x\n' }));
    chmodSync(repo, 0o755);
    execFileSync('chown', ['-R', '65534:65534', folder]);
    const program = join(import.meta.dirname, '__fixtures__/locked-tree.ts');
    const args = [...unprivileged, process.execPath, program, repo, folder];
    const seen = JSON.parse(execFileSync('setpriv', args, { encoding: 'utf8' }));
    expect(seen).toEqual({ files: ['deleted folder/file', 'added folder/hidden'], unportable: [], left: [] });
  });
});
