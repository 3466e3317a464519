import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasBubblewrap } from './__fixtures__/has-bubblewrap.ts';
import {
  countOf,
  describeSandbox,
  expectNothingLeftOf,
  startHost,
  strays,
  uniqueSleep,
} from './__fixtures__/sandbox-suite.ts';
import { createPidNamespaceContainment } from './process-sandbox/pid-namespace.ts';
import { createProcessSandboxProvider } from './process-sandbox/process-sandbox.ts';

let folder: string;
let scratch: string;
let workdir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  scratch = join(folder, 's');
  workdir = join(folder, 'w');
  await mkdir(workdir);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const hasNamespaces = (await createPidNamespaceContainment()) !== undefined;
const levels = [
  {
    name: 'process',
    isolation: { processes: 'pid-namespace', neighbours: 'hidden', network: 'open', level: 0 },
    isThere: hasNamespaces,
    tag: 'pid-namespaces',
  },
  {
    name: 'process',
    isolation: { processes: 'descendants', neighbours: 'visible', network: 'open', level: 0 },
    isThere: process.platform === 'linux',
    tag: 'linux',
  },
  {
    name: 'bubblewrap',
    isolation: { processes: 'pid-namespace', neighbours: 'hidden', network: 'gateway-only', level: 1 },
    isThere: hasBubblewrap,
    tag: 'bubblewrap',
  },
] as const;

for (const level of levels) describeSandbox(level);

test('200 MB of output: bytes counted, both ends kept, the file capped, memory flat', async () => {
  const provider = await createProcessSandboxProvider({ scratch });
  await using sandbox = await provider.start({ workdir, env: {} });
  const stdoutFile = join(folder, 'out');
  let peak = 0;
  const before = process.memoryUsage().rss;
  const result = await sandbox.runShell('echo first; yes 0123456789abcdef | head -c 200000000; echo last', {
    stdoutFile,
    fileLimitBytes: 1_000_000,
    onStdout: () => {
      peak = Math.max(peak, process.memoryUsage.rss());
    },
  });
  expect(result.stdoutBytes).toBe(200_000_011);
  expect(result.stdout.startsWith('first\n0123')).toBe(true);
  expect(result.stdout.endsWith('last\n')).toBe(true);
  expect(result.stdout).toContain(`[${200_000_011 - 2 * 1024 * 1024} bytes left out]`);
  expect(result.stdout.length).toBeLessThan(2 * 1024 * 1024 + 100);
  expect((await stat(stdoutFile)).size).toBeLessThan(1_000_100);
  expect(
    (await readFile(stdoutFile, 'utf8')).endsWith('[199000011 more bytes were printed and left out]\n'),
  ).toBe(true);
  expect(peak - before).toBeLessThan(100 * 1024 * 1024);
});

test.runIf(hasBubblewrap)(
  'a umask that shuts everybody else out takes nothing of /etc from a sealed command',
  { tags: 'bubblewrap' },
  async () => {
    await mkdir(scratch);
    const withMask = ['sh', '-c', 'umask 077; exec "$@"', '-'];
    const host = startHost(withMask, ['ls /etc/ssl && id -un'], { scratch, level: 'bubblewrap' });
    const output: Buffer[] = [];
    host.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    await once(host, 'close');
    const [result] = JSON.parse(Buffer.concat(output).toString()).results;
    expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/\nuser\n$/) });
  },
);

describe.runIf(process.getuid?.() === 0)('as a user without privileges', { tags: 'root' }, () => {
  const dropPrivileges = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  beforeEach(async () => {
    await mkdir(scratch);
    await chown(scratch, 65534, 65534);
    await chmod(folder, 0o755);
  });

  const held = ['pid-namespace', 'descendants', ...(hasBubblewrap ? ['bubblewrap'] : [])];
  test.each(held)('commands, processes held by %s', async (processes) => {
    const sleep = uniqueSleep();
    const scripts = [
      `${strays(sleep)}\nid -u`,
      'exit 3',
      'no-such-program',
      '/etc/passwd',
      'mkdir ~/a; chmod 0 ~/a',
    ];
    const host = startHost(dropPrivileges, scripts, { scratch, level: processes });
    const output: Buffer[] = [];
    host.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    await once(host, 'close');
    const { level, results } = JSON.parse(Buffer.concat(output).toString());
    expect([level.processes, level.provider]).toContain(processes);
    expect(results.map(({ exitCode }: { exitCode: number }) => exitCode)).toEqual([0, 3, 127, 126, 0]);
    expect(results[0].stdout).toBe('65534\n');
    expect(countOf(sleep)).toBe(0);
  });

  test.each(held)('nothing is left when the host is killed, %s', async (processes) => {
    await expectNothingLeftOf((script) => startHost(dropPrivileges, [script], { scratch, level: processes }));
  });
});
