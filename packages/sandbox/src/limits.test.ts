import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasBubblewrap } from './__fixtures__/has-bubblewrap.ts';
import { cgroupMembers } from './process/cgroup.ts';
import { startProgram } from './process/launcher.ts';
import { findProcess, signalProcess } from './process/process-list.ts';
import { enforceable, placesOf } from './process/resource-group.ts';
import { groupWith } from './process-sandbox/limits.ts';
import type { Sandbox } from './sandbox.ts';
import { startSandboxProvider } from './start-sandbox-provider.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'limits-test-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const WANTED = { memoryBytes: 64e6, processes: 40, cpus: 1 };
const isLimited = Object.keys(enforceable(WANTED)).length === 3;
const levels = ['process', ...(hasBubblewrap ? ['bubblewrap'] : [])];

async function open(level: string): Promise<Sandbox> {
  const provider = await startSandboxProvider(level, { scratch, limits: WANTED });
  expect((await provider.describe()).limits).toEqual(WANTED);
  const workdir = mkdtempSync(join(scratch, 'w-'));
  if (provider.owner) chownSync(workdir, provider.owner.uid, provider.owner.gid);
  return provider.start({ workdir, env: {} });
}

const BOMBS = {
  none: `perl -e '1 while (times)[0] < 0.1'`,
  memory: `perl -e '$x = "a" x 200_000_000'`,
  processes: 'bomb() { bomb | bomb & }; bomb; sleep 0.3',
};

describe.runIf(isLimited).for(levels)('in the sandbox %s', { tags: 'cgroups' }, (level) => {
  test('bombs reach their limit, what was used is measured, and no group is left', async () => {
    await using quiet = await open(level);
    await quiet.runShell(BOMBS.none);
    await quiet.stop();
    const { cpuSeconds, peakMemoryBytes, exceeded } = quiet.usage();
    expect(exceeded).toEqual([]);
    expect(cpuSeconds).toBeGreaterThan(0.09);
    expect(peakMemoryBytes).toBeGreaterThan(500_000);
    await using hungry = await open(level);
    expect((await hungry.runShell(BOMBS.memory)).exitCode).toBe(137);
    expect(hungry.usage()).toMatchObject({ exceeded: ['memory'], peakMemoryBytes: expect.closeTo(64e6, -5) });
    await using forking = await open(level);
    expect((await forking.runShell(BOMBS.processes)).stderr).toContain('Cannot fork');
    expect(forking.usage().exceeded).toEqual(['processes']);
    expect(groupsOf(process.pid)).not.toEqual([]);
    await Promise.all([hungry.stop(), forking.stop()]);
    expect(groupsOf(process.pid)).toEqual([]);
  });
});

const read = (file: string): string => readFileSync(file, 'utf8');

/** The control groups that a process has made. */
function groupsOf(pid: number | undefined): string[] {
  const places = placesOf(read('/proc/self/cgroup'), read('/proc/self/mountinfo'), (folder) =>
    read(join(folder, 'cgroup.subtree_control')).trim().split(' '),
  );
  return Object.values(places)
    .flatMap(({ folder }) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => basename(path).startsWith(`whetstone-case-${pid}-`));
}

/** A process in which a command runs in the sandbox `process`. */
async function startHost(): Promise<ChildProcess> {
  const fixture = fileURLToPath(new URL('./__fixtures__/run-in-sandbox.ts', import.meta.url));
  const host = spawn(process.execPath, [fixture, scratch, 'process', 'echo runs; exec sleep 600'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(host.stderr, 'data');
  expect(groupsOf(host.pid)).not.toEqual([]);
  return host;
}

test.runIf(isLimited)('a host that is killed leaves no group', { tags: 'cgroups' }, async () => {
  const host = await startHost();
  host.kill('SIGKILL');
  await once(host, 'exit');
  await expect.poll(() => groupsOf(host.pid)).toEqual([]);
});

test.runIf(isLimited)(
  'nor does one whose command ends at the moment at which it is killed',
  { tags: 'cgroups' },
  async () => {
    const host = await startHost();
    const members = groupsOf(host.pid).flatMap((group) => cgroupMembers(group));
    const parents = members.map((pid) => findProcess(pid)?.parent ?? 0);
    const [launcher = 0] = parents.filter((parent) => parent > 0 && !members.includes(parent));
    // It notices both ends together, and reports the first one to nobody.
    process.kill(launcher, 'SIGSTOP');
    host.kill('SIGKILL');
    await once(host, 'exit');
    for (const member of members) signalProcess(member, 'SIGKILL');
    await expect.poll(() => members.filter((pid) => findProcess(pid) !== undefined)).toEqual([]);
    process.kill(launcher, 'SIGCONT');
    await expect.poll(() => groupsOf(host.pid)).toEqual([]);
  },
);

test.runIf(isLimited)(
  'nor does one that is killed before a command has started',
  { tags: 'cgroups' },
  async () => {
    const limits = JSON.stringify(new URL('./process-sandbox/limits.ts', import.meta.url).href);
    const program = `(await import(${limits})).groupWith({ processes: 100 }); console.log('made'); setInterval(() => {}, 1e6)`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    await expect.poll(() => groupsOf(host.pid)).not.toEqual([]);
    host.kill('SIGKILL');
    await once(host, 'exit');
    await expect.poll(() => groupsOf(host.pid)).toEqual([]);
  },
);

/** A program that ends by itself, in these groups. */
const runIn = (groups: readonly string[] | undefined, script: string) => {
  const namespace = { inUserNamespace: process.getuid?.() !== 0 };
  return startProgram({ file: 'sh', args: ['-c', script], cwd: '/', env: {}, namespace, groups });
};

test.runIf(isLimited)(
  'nothing starts without a limit that could not be set, and no group is left',
  { tags: 'cgroups' },
  async () => {
    const group = groupWith({ memoryBytes: 1e9, processes: -1 });
    await expect(runIn(group?.folders, 'true')).rejects.toThrow(/pids\.max: Invalid argument/);
    expect(groupsOf(process.pid)).toEqual([]);
    await group?.remove();
    const { exited } = await runIn([], 'exit 3');
    expect(await exited).toBe(3);
  },
);

test.runIf(isLimited)(
  'a group is removed when the launcher that made it was killed',
  { tags: 'cgroups' },
  async () => {
    const group = groupWith({ processes: 10 });
    const { pid, exited } = await runIn(group?.folders, 'exec sleep 60');
    process.kill(findProcess(pid)?.parent ?? 0, 'SIGKILL');
    expect(await exited).toBe(137);
    await group?.remove();
    expect(groupsOf(process.pid)).toEqual([]);
  },
);

describe('where groups can be made', () => {
  const mount = (at: string, type: string, options: string): string =>
    `31 23 0:28 / ${at} rw,relatime - ${type} ${type} rw,${options}`;

  test('each controller of the first version has a tree of its own', () => {
    const mounts = [mount('/c/mem', 'cgroup', 'memory'), mount('/c/cpu', 'cgroup', 'cpu,cpuacct')].join('\n');
    expect(placesOf('4:memory:/own\n1:cpu,cpuacct:/\n', mounts, () => undefined)).toEqual({
      memory: { version: 1, folder: '/c/mem/own' },
      cpu: { version: 1, folder: '/c/cpu' },
      cpuacct: { version: 1, folder: '/c/cpu' },
    });
  });

  test('in the second version a group is made where the controllers are passed on', () => {
    const passed: Record<string, string[]> = {
      '/c': ['cpu', 'memory', 'pids'],
      '/c/user.slice': ['memory', 'pids'],
      '/c/user.slice/session': [],
    };
    const places = placesOf(
      '0::/user.slice/session\n',
      mount('/c', 'cgroup2', ''),
      (folder) => passed[folder],
    );
    const folder = '/c/user.slice';
    expect(places).toEqual({
      ...{ memory: { version: 2, folder }, pids: { version: 2, folder }, cpuacct: { version: 2, folder } },
    });
  });

  test('controllers of the first version stay there, whatever the second tree has', () => {
    const mounts = [mount('/c/pids', 'cgroup', 'pids'), mount('/c/unified', 'cgroup2', '')].join('\n');
    const places = placesOf('8:pids:/\n0::/\n', mounts, () => ['hugetlb']);
    expect(places).toEqual({ pids: { version: 1, folder: '/c/pids' } });
  });
});
