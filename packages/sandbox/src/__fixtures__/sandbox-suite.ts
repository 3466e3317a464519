import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMask } from '../mask.ts';
import type { ProcessSandboxOptions } from '../process-sandbox/process-sandbox.ts';
import type { Sandbox, SandboxLevel, SandboxProvider } from '../sandbox.ts';
import { startSandboxProvider } from '../start-sandbox-provider.ts';

/** A `sleep` that no other test runs, so that its argument identifies it among all processes of the machine. */
export const uniqueSleep = (): string => `sleep ${randomInt(1e8, 1e9)}`;

/** How many processes run this command line, in any namespace. */
export function countOf(commandLine: string): number {
  const wanted = `${commandLine.replaceAll(' ', '\0')}\0`;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLineOf(pid) === wanted).length;
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}

async function until(condition: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The condition did not come true in time.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Three children, each of which outlives its parent unless somebody ends it. */
export const strays = (sleep: string): string => `
  ${sleep} &
  setsid ${sleep} > /dev/null 2>&1 < /dev/null &
  ( setsid sh -c '${sleep} & exit' & )
`;
/** A fourth child, which ignores TERM. */
const stubbornStray = (sleep: string): string => `( trap '' TERM; ${sleep} & )`;

/** Starts another process through `prefix`, which runs these scripts in a sandbox. */
export function startHost(
  prefix: string[],
  scripts: string[],
  { scratch, level }: { scratch: string; level: string },
): ChildProcessByStdio<null, Readable, null> {
  const fixture = fileURLToPath(new URL('./run-in-sandbox.ts', import.meta.url));
  const [file = '', ...args] = [...prefix, process.execPath, fixture, scratch, level, ...scripts];
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Kills a host in the middle of its work, so that it cannot clean up. */
export async function expectNothingLeftOf(startWith: (script: string) => ChildProcess): Promise<void> {
  const sleep = uniqueSleep();
  const host = startWith(`setsid ${sleep} > /dev/null 2>&1 & ( trap '' TERM; ${sleep} & ) ; ${sleep}`);
  // A host starts a process and maybe an engine's container, which takes long on a busy machine.
  await until(() => countOf(sleep) === 3, 60_000);
  host.kill('SIGKILL');
  await once(host, 'exit');
  await until(() => countOf(sleep) === 0);
}

/** Ours may be root, and commands another user. */
const give = async (provider: SandboxProvider, path: string): Promise<void> => {
  if (provider.owner) await chown(path, provider.owner.uid, provider.owner.gid);
};

/** A test that not every sandbox has. A skipped one would look as if this machine could not run it. */
function testWhere(applies: boolean, title: string, run: () => Promise<void>): void {
  if (applies) test(title, run);
}

/** `options`: of its provider. */
export type TestedLevel = {
  name: string;
  isolation: Pick<SandboxLevel, 'processes' | 'neighbours' | 'network' | 'level'>;
  isThere: boolean;
  tag: string;
  options?: Partial<ProcessSandboxOptions>;
};

/** The tests that each level passes. */
export function describeSandbox({ name, isolation, isThere, tag, options: own = {} }: TestedLevel): void {
  const { processes } = isolation;
  // An engine, and the library, start processes for each of them.
  const atOnce = name === 'docker' || name === 'sandbox-runtime' ? 4 : 30;
  describe.skipIf(!isThere)(`sandbox ${name}, processes held by ${processes}`, { tags: tag }, () => {
    let folder: string;
    let scratch: string;
    let workdir: string;
    let provider: SandboxProvider;
    let sandbox: Sandbox;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
      scratch = join(folder, 's');
      workdir = join(folder, 'w');
      await mkdir(workdir);
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    const start = async (options: Partial<ProcessSandboxOptions> = {}): Promise<void> => {
      const wanted = { scratch, ...own, ...(name === 'process' && { processes }), ...options };
      provider = await startSandboxProvider(name, wanted);
      await give(provider, workdir);
      sandbox = await provider.start({ workdir, env: { LANE: 'http://127.0.0.1:1' } });
    };
    beforeEach(() => start());
    afterEach(() => sandbox.stop());

    test('the provider describes its isolation', async () => {
      expect(await provider.describe()).toMatchObject({ provider: name, ...isolation });
    });

    testWhere(
      name === 'bubblewrap' || name === 'docker',
      'each name that a command asks for is known, and not found at once',
      async () => {
        const ask = `node -e "require('node:dns').resolve4('b.example', (error) => console.log(error.code))"`;
        const asked = await sandbox.runShell(`getent hosts A.example; ${ask}; getent hosts localhost`);
        expect(asked.stdout).toMatch(/^ENOTFOUND\n127\.0\.0\.1 /);
        expect(asked.durationMs).toBeLessThan(10_000);
        expect(sandbox.namesAsked()).toEqual(['a.example', 'b.example']);
      },
    );

    testWhere(name !== 'process', 'commands reach the hosts that are listed, and setup its own', async () => {
      const company = createServer(({ url }, response) => response.end(`got ${url}\n`)).listen(0, '127.0.0.1');
      await once(company, 'listening');
      try {
        vi.stubEnv('http_proxy', `http://127.0.0.1:${(company.address() as AddressInfo).port}`);
        await sandbox.stop();
        await start({ hosts: ['a.example'], setupHosts: ['b.example'] });
        const { hosts, setupHosts, network } = await provider.describe();
        expect([hosts, setupHosts, network]).toEqual([['a.example'], ['b.example'], 'gateway-and-hosts']);
        const script = 'for one in a b c; do curl -s --max-time 20 http://$one.example/ | cut -c 1-24; done';
        const refused = (one: string) => `${one}.example:80 cannot be r\n`;
        const seen = await sandbox.runShell(script);
        expect(seen.stdout).toBe(`got http://a.example/\n${refused('b')}${refused('c')}`);
        const env = { HTTPS_PROXY: 'http://user:pw@company.example', npm_config_proxy: 'http://other.example' };
        const setup = await sandbox.runShell(`${script}; env | grep -c example`, { network: 'open', env });
        expect(setup.stdout).toBe(`got http://a.example/\ngot http://b.example/\n${refused('c')}0\n`);
        expect(sandbox.hostRequests()?.map(({ host, refused, by }) => [host, refused === undefined, by])).toEqual([
          ...[['a.example', true, undefined], ['b.example', false, undefined], ['c.example', false, undefined]],
          ...[['a.example', true, 'setup'], ['b.example', true, 'setup'], ['c.example', false, 'setup']],
        ]);
      } finally {
        vi.unstubAllEnvs();
        company.close();
      }
    });

    testWhere(
      name === 'bubblewrap' || name === 'docker',
      'a command on the network of this machine is not sent to the proxy of listed hosts',
      async () => {
        await sandbox.stop();
        await start({ hosts: ['a.example'] });
        const proxies = 'env | grep -i _proxy= | sort';
        const sealed = await sandbox.runShell(proxies);
        expect(sealed.stdout).toContain('HTTPS_PROXY=http://127.0.0.1:3128');
        const env = { HTTPS_PROXY: 'http://127.0.0.1:3128', https_proxy: 'http://company.example' };
        const open = await sandbox.runShell(proxies, { network: 'open', env });
        expect(open.stdout.trim().split('\n')).toEqual(
          Object.entries(env).map(([variable, url]) => `${variable}=${url}`),
        );
      },
    );

    test('a command sees and writes nothing beside the folder of its workspace', async () => {
      const own = join(scratch, 'own');
      await mkdir(join(own, 'repo'), { recursive: true });
      await mkdir(join(scratch, 'other'));
      await writeFile(join(scratch, 'AGENTS.md'), 'of another');
      await give(provider, join(own, 'repo'));
      await using alone = await provider.start({ workdir: join(own, 'repo'), env: {} });
      const script =
        'ls ../..; pwd; test -w "$HOME" && echo home; echo x > ../mine; echo x > ../../AGENTS.md';
      const seen = await alone.runShell(script);
      const [, again] = await Promise.all([alone.runShell('true'), alone.runShell('cat ../mine; ls ../..')]);
      if (isolation.neighbours === 'hidden') {
        expect(seen.stdout).toBe(`own\n${join(own, 'repo')}\nhome\n`);
        // In a root of its own the folders above are its own as well.
        if (name === 'process') expect(seen.stderr).toMatch(/read-only/i);
        expect(again.stdout).toBe('x\nown\n');
        expect(await readFile(join(scratch, 'AGENTS.md'), 'utf8')).toBe('of another');
      } else {
        expect(seen.stdout.split('\n')).toEqual(expect.arrayContaining(['AGENTS.md', 'other', 'own']));
      }
    });

    test.each([
      ['success', 'sh', ['-c', 'exit 0'], 0],
      ['failure', 'sh', ['-c', 'exit 3'], 3],
      ['a signal', 'sh', ['-c', 'kill -9 $$'], 137],
      ['no such program', 'no-such-program-here', [], 127],
      ['not executable', '/etc/passwd', [], 126],
    ])('exit code of %s', async (_, command, args, exitCode) => {
      expect(await sandbox.runCommand(command, args)).toMatchObject({ exitCode, ended: 'exit' });
    });

    test('a command reads the files that it is lent, and no copy of them is left', async () => {
      const file = join(folder, 'secrets.conf');
      await writeFile(file, 'token', { mode: 0o600 });
      const env = { CONFIG: file, CERTIFICATES: join(folder, 'missing'), FOLDER: folder };
      const lend = ['CONFIG', 'CERTIFICATES', 'FOLDER', 'NOT_SET'];
      const script = 'cat "$CONFIG"; printf " %s" "${CONFIG##*/}" "$CERTIFICATES" "$FOLDER" "$NOT_SET"';
      const { stdout } = await sandbox.runShell(script, { env, lend, network: 'open' });
      expect(stdout).toBe(`token secrets.conf ${folder}/missing ${folder} `);
      const left = (await readdir(scratch, { recursive: true })).filter((path) =>
        path.includes('secrets.conf'),
      );
      expect(left).toEqual([]);
      // Another command only has what the sandbox shows of this machine.
      if (isolation.network === 'open') return;
      const { exitCode } = await sandbox.runShell('cat "$CONFIG" /run/lent/*/*', { env });
      expect(exitCode).not.toBe(0);
    });

    test('a command reads the folders that it is lent, also by address, and cannot write there', async () => {
      const index = join(folder, 'index of packages');
      await mkdir(join(index, 'simple'), { recursive: true, mode: 0o755 });
      await writeFile(join(index, 'wheel'), 'wheel', { mode: 0o644 });
      await chmod(folder, 0o755);
      const env = { LINKS: index, INDEX: `https://example.org/simple ${pathToFileURL(join(index, 'simple'))}`, ALL: '/' };
      const { stdout } = await sandbox.runShell('cat "$LINKS/wheel"', { env, lend: ['LINKS'] });
      expect(stdout).toBe('wheel');
      const script = `cat '${index}/wheel'; touch '${index}/new'`;
      const named = await sandbox.runShell(script, { env, lend: ['INDEX', 'ALL'] });
      expect(named.stdout).toBe('wheel');
      if (isolation.network === 'open') return;
      expect((await readdir(index)).sort()).toEqual(['simple', 'wheel']);
      expect((await sandbox.runShell(`cat '${index}/wheel'`, { env })).exitCode).not.toBe(0);
    });

    test('arguments do not pass through a shell', async () => {
      const args = ['%s\\n', '$(touch pwned)', '`id`', 'a\'b"c', '', 'x\ny'];
      const { stdout } = await sandbox.runCommand('printf', args);
      expect(stdout).toBe(`${args.slice(1).join('\n')}\n`);
      expect(await readdir(workdir)).toEqual([]);
    });

    test('standard input is empty, and a script can open its output by name', async () => {
      const { stdout, stderr } = await sandbox.runShell(
        'cat; echo out > /dev/stdout; echo err > /dev/stderr',
      );
      expect({ stdout, stderr }).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    });

    test('nothing is left after an end, a time limit or an abort, and the output before it is kept', async () => {
      const [ending, late, aborted] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
      const controller = new AbortController();
      const script = (sleep: string) => `${strays(sleep)}\n${stubbornStray(sleep)}\necho done`;
      const running = [
        sandbox.runShell(`${script(ending)}; exit 5`),
        sandbox.runShell(`trap '' TERM; ${script(late)}; ${late}; ${late}`, { timeoutMs: 500 }),
        sandbox.runShell(`${script(aborted)}; ${aborted}`, { signal: controller.signal }),
      ];
      await until(() => countOf(aborted) === 5);
      controller.abort();
      const results = await Promise.all(running);
      expect(results.map(({ stdout }) => stdout)).toEqual(['done\n', 'done\n', 'done\n']);
      expect(results.map(({ ended }) => ended)).toEqual(['exit', 'timeout', 'abort']);
      expect(results[0]?.exitCode).toBe(5);
      for (const sleep of [ending, late, aborted]) expect(countOf(sleep)).toBe(0);
    });

    test('a program can save its work when its time is up', async () => {
      // Its start takes the library a while.
      const timeoutMs = name === 'sandbox-runtime' ? 2_000 : 200;
      const script = `trap 'echo saved; exit 9' TERM; ${uniqueSleep()} & wait`;
      const result = await sandbox.runShell(script, { timeoutMs });
      expect(result).toMatchObject({ stdout: 'saved\n', exitCode: 9, ended: 'timeout' });
      expect(result.durationMs).toBeLessThan(timeoutMs + 1_800);
    });

    test('a signal that is already aborted starts nothing', async () => {
      const result = await sandbox.runShell('touch started', { signal: AbortSignal.abort() });
      expect(result.ended).toBe('abort');
      expect(await readdir(workdir)).toEqual([]);
    });

    test('stop ends what runs, removes the folders, and is idempotent', async () => {
      const sleep = uniqueSleep();
      const running = sandbox.runShell(`mkdir ~/a; touch ~/a/b; chmod 000 ~/a; ${strays(sleep)}\n${sleep}`);
      await until(() => countOf(sleep) === 4);
      await Promise.all([sandbox.stop(), sandbox.stop()]);
      expect(await running).toMatchObject({ ended: 'abort' });
      expect(countOf(sleep)).toBe(0);
      await expect(stat(sandbox.home)).rejects.toThrow('ENOENT');
      await expect(sandbox.runShell('true')).rejects.toMatchObject({ code: 'sandbox-stopped' });
    });

    test('nothing is left when the host is killed', async () => {
      await expectNothingLeftOf((script) => startHost([], [script], { scratch, level: name === 'process' ? processes : JSON.stringify({ name, ...own }) }));
    });

    test('many commands in a row and at once leave no descriptor and no timer, and lose no output', async () => {
      const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
      await sandbox.runShell('true');
      const before = await openFiles();
      const timersBefore = timers();
      for (let round = 0; round < 3; round += 1) {
        const commands = Array.from({ length: atOnce }, (_, n) =>
          sandbox.runShell(`echo ${n}; echo ${n} >&2; exit ${n}`),
        );
        for (const [n, { stdout, stderr, exitCode }] of (await Promise.all(commands)).entries()) {
          expect([stdout, stderr, exitCode]).toEqual([`${n}\n`, `${n}\n`, n]);
        }
      }
      expect(timers()).toBeLessThanOrEqual(timersBefore);
      // Up to 24 pipes are kept for the next commands. One descriptor left by each of the 90 commands would be more.
      await until(async () => (await openFiles()) <= before + 2 * 24);
    });

    test('commands do not end each other', async () => {
      const [first, second] = await Promise.all([
        sandbox.runShell('echo one; exit 1'),
        sandbox.runShell('while [ ! -e go ]; do sleep 0.05; done; echo two; exit 2'),
        sandbox.runShell('sleep 0.3; touch go'),
      ]);
      expect([first.exitCode, second.exitCode, second.stdout]).toEqual([1, 2, 'two\n']);
    });

    test('the environment is scrubbed of secrets, of npm and of the user', async () => {
      const canary = 'canary-9b1f7';
      await sandbox.stop();
      await start({
        parentEnvironment: {
          ...process.env,
          HOME: '/home/someone',
          OPENAI_API_KEY: canary,
          MY_TOKEN: canary,
          DB_PASSWORD: canary,
          LC_SECRET_KEY: canary,
          JAVA_HOME: 'ghp_0123456789abcdefghij0123456789',
          UNLISTED: canary,
          NODE_OPTIONS: '--require /nowhere',
          npm_config_registry: canary,
          GOROOT: '/opt/go',
          PATH: `/checkout/node_modules/.bin:relative:/x/node-gyp-bin:${process.env.PATH}`,
        },
      });
      const { stdout } = await sandbox.runCommand('env', [], { env: { EXTRA: 'yes' } });
      expect(stdout).not.toContain(canary);
      const env = Object.fromEntries(stdout.split('\n').map((line) => line.split(/=(.*)/s)));
      expect(env).toMatchObject({
        HOME: sandbox.home,
        // A container has the toolchains of its image.
        ...(name !== 'docker' && { GOROOT: '/opt/go' }),
        LANE: 'http://127.0.0.1:1',
        EXTRA: 'yes',
        TERM: 'dumb',
        GIT_CONFIG_NOSYSTEM: '1',
      });
      expect(env).not.toHaveProperty('JAVA_HOME');
      expect(env).not.toHaveProperty('NODE_OPTIONS');
      expect(env.PATH).not.toMatch(/node_modules|node-gyp-bin|relative/);
      for (const name of ['HOME', 'TMPDIR', 'XDG_RUNTIME_DIR']) {
        expect((await stat(env[name] ?? '')).mode & 0o777).toBe(0o700);
      }
      expect(stdout).not.toMatch(/whetstone|variant/i);
    });

    test('file paths are relative to the workspace, ~ is the home, and no path leads out of them', async () => {
      await sandbox.writeFiles({ 'a/b.txt': 'one', '~/.config/tool.toml': 'two' });
      await sandbox.uploadFiles([
        { path: 'run.sh', content: Buffer.from('#!/bin/sh\necho ran'), mode: 0o755 },
      ]);
      expect(await sandbox.readFile('a/b.txt')).toBe('one');
      expect(await readFile(join(sandbox.home, '.config/tool.toml'), 'utf8')).toBe('two');
      expect((await sandbox.runCommand('./run.sh')).stdout).toBe('ran\n');

      await writeFile(join(folder, 'outside'), 'secret');
      await symlink('../outside', join(workdir, 'link'));
      await symlink('..', join(workdir, 'up'));
      await symlink('../new', join(workdir, 'dangling'));
      for (const path of ['link', 'up/outside', '../outside', 'a/../../outside']) {
        await expect(sandbox.readFile(path)).rejects.toMatchObject({ code: 'sandbox-path-outside' });
      }
      for (const path of ['link', 'up/new', '../new', 'dangling']) {
        await expect(sandbox.writeFiles({ [path]: 'x' })).rejects.toThrow();
      }
      expect((await readdir(folder)).sort()).toEqual(['outside', 's', 'w']);
      expect(await readFile(join(folder, 'outside'), 'utf8')).toBe('secret');
    });

    test('a pipe in the place of a file is an error, and nothing waits for it', async () => {
      await sandbox.runShell('mkfifo pipe');
      await expect(sandbox.readFile('pipe')).rejects.toMatchObject({ code: 'sandbox-file-irregular' });
    });

    test.each([
      ['an argument that is too long', ['x'.repeat(3_000_000)], /E2BIG/],
      ['an argument with a NUL', ['a\0b'], /null bytes/],
    ])('%s is a typed error', async (_, args, message) => {
      const running = sandbox.runCommand('true', args);
      await expect(running).rejects.toMatchObject({
        code: 'sandbox-start-failed',
        message: expect.stringMatching(message),
      });
      expect((await sandbox.runShell('echo fine')).stdout).toBe('fine\n');
    });

    test('the working directory can be moved for the commands, and files stay relative to the workspace', async () => {
      await sandbox.runShell('mkdir -p a/b');
      expect(sandbox.getWorkingDirectory()).toBe(workdir);
      sandbox.setWorkingDirectory('a');
      expect(sandbox.getWorkingDirectory()).toBe(join(workdir, 'a'));
      expect((await sandbox.runCommand('pwd')).stdout).toBe(`${workdir}/a\n`);
      expect((await sandbox.runCommand('pwd', [], { cwd: 'b' })).stdout).toBe(`${workdir}/a/b\n`);
      await sandbox.writeFiles({ here: 'x' });
      expect((await sandbox.runShell('cat ../here')).stdout).toBe('x');
    });

    test('a missing working directory is an error', async () => {
      await expect(sandbox.runCommand('true', [], { cwd: 'nowhere' })).rejects.toMatchObject({
        code: 'sandbox-cwd-invalid',
      });
    });

    test('files keep the bytes of output that is not UTF-8, and text shows U+FFFD', async () => {
      const chunks: Buffer[] = [];
      const stdoutFile = join(folder, 'out');
      const result = await sandbox.runShell("printf 'a\\377b\\303\\251'", {
        stdoutFile,
        onStdout: (chunk) => chunks.push(chunk),
      });
      expect(result.stdout).toBe('a\ufffdbé');
      const bytes = Buffer.from([0x61, 0xff, 0x62, 0xc3, 0xa9]);
      expect(Buffer.concat(chunks)).toEqual(bytes);
      expect(await readFile(stdoutFile)).toEqual(bytes);
    });

    test('secrets are masked in results, files and callbacks', async () => {
      const mask = createMask(['hunter2-hunter2']);
      const stderrFile = join(folder, 'err');
      const seen: Buffer[] = [];
      const script = 'for part in hun ter2-hun ter2; do printf $part; printf $part >&2; done';
      const result = await sandbox.runShell(script, {
        mask,
        stderrFile,
        onStdout: (chunk) => seen.push(chunk),
      });
      expect(result).toMatchObject({ stdout: '[masked]', stderr: '[masked]', stdoutBytes: 15 });
      expect(Buffer.concat(seen).toString()).toBe('[masked]');
      expect(await readFile(stderrFile, 'utf8')).toBe('[masked]');
    });

    test('a log that cannot be written is an error, after the command has ended', async () => {
      const running = sandbox.runShell('yes | head -c 1000000', {
        stdoutFile: join(folder, 'nowhere', 'out'),
      });
      await expect(running).rejects.toMatchObject({ code: 'sandbox-output-unwritable' });
    });
  });
}

