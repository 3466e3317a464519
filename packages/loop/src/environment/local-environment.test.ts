import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { cgroupFolder } from '@whetstone/sandbox/process';
import { expect, test, vi } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { LocalExecutionEnvironment } from './local-environment.ts';

/** The processes of a list of ids that are alive. One that is dead and not yet reaped by its parent is not. */
async function runningPids(file: string): Promise<number[]> {
  const pids = (await readFile(file, 'utf8')).split(/\s+/).filter(Boolean).map(Number);
  return pids.filter((pid) => {
    const state = spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
    return state !== '' && !state.startsWith('Z');
  });
}

test.concurrent('a command gives its output, its exit code and its duration', async () => {
  await using place = await temporaryEnvironment();
  const result = await place.environment.exec('echo out; echo err >&2; pwd; exit 3');
  expect(result).toMatchObject({ stdout: `out\n${place.directory}\n`, stderr: 'err\n', exitCode: 3 });
  expect(result).toMatchObject({ timedOut: false, aborted: false, droppedBytes: 0 });
});

test.concurrent('a list is an argv that no shell reads', async () => {
  await using place = await temporaryEnvironment();
  const result = await place.environment.exec(['printf', '%s|', '$HOME', '`id`', "it's"]);
  expect(result.stdout).toBe("$HOME|`id`|it's|");
});

test.concurrent('standard input is closed, so that nothing waits for it', async () => {
  await using place = await temporaryEnvironment();
  expect(await place.environment.exec('cat; echo end')).toMatchObject({ stdout: 'end\n', exitCode: 0 });
});

test.concurrent('a program that does not exist rejects; a shell says 127', async () => {
  await using place = await temporaryEnvironment();
  await expect(place.environment.exec(['no-such-program'])).rejects.toThrow(/ENOENT/);
  expect((await place.environment.exec('no-such-program')).exitCode).toBe(127);
});

test.concurrent('a timeout ends grandchildren, deaf processes and those that left the group', {
  timeout: 20_000,
}, async () => {
  await using place = await temporaryEnvironment();
  const script = [
    'echo $$ >> pids',
    "(trap '' TERM; echo $BASHPID >> pids; sleep 60) &",
    "setsid bash -c 'echo $$ >> pids; sleep 60; :' &",
    'setsid bash -c \'(setsid bash -c "echo \\$\\$ >> pids; sleep 60; :" &) ; :\'',
    'echo started; wait; sleep 60',
  ].join('\n');
  const result = await place.environment.exec(script, { timeoutMs: 500 });
  expect(result).toMatchObject({ timedOut: true, stdout: 'started\n' });
  expect((await readFile(place.path('pids'), 'utf8')).trim().split('\n')).toHaveLength(4);
  expect(await runningPids(place.path('pids'))).toEqual([]);
});

test.concurrent('a limit that is longer than any timer of Node does not end a command', async () => {
  await using place = await temporaryEnvironment();
  const limit = Number.MAX_SAFE_INTEGER;
  const limits = { timeoutMs: limit, inactivityTimeoutMs: limit };
  const result = await place.environment.exec('sleep 0.2; echo done', limits);
  expect(result).toMatchObject({ timedOut: false, exitCode: 0, stdout: 'done\n' });
});

test.concurrent('an abort ends the tree as a timeout does, also before it starts', async () => {
  await using place = await temporaryEnvironment();
  const controller = new AbortController();
  const running = place.environment.exec('echo $$ > pids; sleep 60', { signal: controller.signal });
  await vi.waitUntil(() => existsSync(place.path('pids')), { timeout: 30_000 });
  controller.abort();
  expect(await running).toMatchObject({ aborted: true, timedOut: false });
  expect(await runningPids(place.path('pids'))).toEqual([]);
  const aborted = await place.environment.exec('sleep 60', { signal: AbortSignal.abort() });
  expect(aborted.aborted).toBe(true);
});

test.concurrent('a background child does not hold up its command, and cleanup ends it', async () => {
  await using place = await temporaryEnvironment();
  const result = await place.environment.exec(
    'sleep 60 & echo $! > pids; setsid sleep 61 & echo $! >> pids; echo hi',
  );
  expect(result).toMatchObject({ stdout: 'hi\n', exitCode: 0 });
  expect(result.durationMs).toBeLessThan(5_000);
  expect(await runningPids(place.path('pids'))).toHaveLength(2);
  await place.environment.cleanup();
  expect(await runningPids(place.path('pids'))).toEqual([]);
});

test.concurrent('memory is bounded whatever a command prints, and characters stay whole', async () => {
  await using place = await temporaryEnvironment();
  const seen: number[] = [];
  const result = await place.environment.exec("head -c 3000000 /dev/zero | tr '\\0' 'x' | sed 's/x/é€😀/g'", {
    onOutput: ({ text }) => seen.push(text.length),
  });
  expect(result.droppedBytes).toBeGreaterThan(10_000_000);
  expect(Buffer.byteLength(result.stdout)).toBeLessThan(1_100_000);
  expect(result.stdout).not.toContain('\ufffd');
  expect(result.stdout).toMatch(/\n\[\d+ bytes left out\]\n/);
  expect(seen.length).toBeGreaterThan(0);
});

test.concurrent('streamed output never splits a character', async () => {
  await using place = await temporaryEnvironment();
  let text = '';
  await place.environment.exec("printf '\\xe2\\x82'; sleep 0.05; printf '\\xac'", {
    onOutput: (chunk) => {
      text += chunk.text;
    },
  });
  expect(text).toBe('€');
});

test('secrets of the host do not reach commands; what the host passes does', async () => {
  vi.stubEnv('MY_SERVICE_API_KEY', 'secret-1');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-2');
  vi.stubEnv('GITHUB_PAT', 'secret-3');
  vi.stubEnv('DATABASE_URL', 'postgres://user:secret-4@db/x');
  vi.stubEnv('GIT_AUTHOR_NAME', 'Ada');
  vi.stubEnv('HARMLESS', 'yes');
  try {
    const all = new LocalExecutionEnvironment({ env: { GIVEN_TOKEN: 'wanted' } });
    const { stdout } = await all.exec('env');
    expect(stdout).not.toMatch(/secret-/);
    expect(stdout).toMatch(/^GIT_AUTHOR_NAME=Ada$/m);
    expect(stdout).toMatch(/^HARMLESS=yes$/m);
    expect(stdout).toMatch(/^GIVEN_TOKEN=wanted$/m);
    const core = await new LocalExecutionEnvironment({ envPolicy: 'core' }).exec('env');
    expect(core.stdout).toMatch(/^PATH=/m);
    expect(core.stdout).not.toMatch(/HARMLESS/);
    const none = await new LocalExecutionEnvironment({ envPolicy: 'none' }).exec(['/usr/bin/env']);
    expect(none.stdout).not.toMatch(/^HOME=/m);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("a command in the background does not read the user's ~/.bashrc either", async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('.bashrc'), 'echo from .bashrc\n');
  vi.stubEnv('SHLVL', '0');
  const environment = new LocalExecutionEnvironment({ env: { HOME: place.directory } });
  vi.unstubAllEnvs();
  const command = await environment.start('echo ran');
  expect(await command.poll({ waitMs: 20_000 })).toMatchObject({
    output: 'ran\n',
    state: { kind: 'exited' },
  });
});

test.concurrent('files: bytes, parents, modes, moves, and what is not there', async () => {
  await using place = await temporaryEnvironment();
  const { environment } = place;
  const bytes = new Uint8Array([0, 255, 10, 13]);
  await environment.writeBytes('deep/er/a.bin', bytes, { mode: 0o755 });
  expect(new Uint8Array(await environment.readBytes(place.path('deep/er/a.bin')))).toEqual(bytes);
  expect((await stat(place.path('deep/er/a.bin'))).mode & 0o777).toBe(0o755);
  await environment.rename('deep/er/a.bin', 'deep/b.bin');
  expect(await environment.stat('deep/b.bin')).toMatchObject({ kind: 'file', size: 4 });
  expect(await environment.stat('deep/er/a.bin')).toBeUndefined();
  expect(await environment.stat('deep/b.bin/x')).toBeUndefined();
  await environment.remove('deep/b.bin');
  await expect(environment.remove('deep/b.bin')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(environment.readBytes('deep')).rejects.toMatchObject({ code: 'EISDIR' });
});

test.concurrent('a folder lists its entries by kind and does not follow links', async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('folder'));
  await writeFile(place.path('file'), '');
  await chmod(place.path('file'), 0o600);
  await symlink('folder', place.path('link'));
  const entries = await place.environment.listDirectory('.');
  expect(entries.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    { name: 'file', kind: 'file' },
    { name: 'folder', kind: 'directory' },
    { name: 'link', kind: 'symlink' },
  ]);
  expect(await place.environment.realpath('link')).toBe(place.path('folder'));
});

test.concurrent('the folder of long outputs goes with cleanup, and with the process where nobody cleans up', async () => {
  await using place = await temporaryEnvironment();
  const folder = await place.environment.outputDirectory();
  expect(existsSync(folder)).toBe(true);
  await place.environment.cleanup();
  expect(existsSync(folder)).toBe(false);
  const module = new URL('./local-environment.ts', import.meta.url).href;
  const script = `import { LocalExecutionEnvironment } from '${module}';
    console.log(await new LocalExecutionEnvironment().outputDirectory());`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(run.stdout).toMatch(/whetstone-output-/);
  expect(existsSync(run.stdout.trim())).toBe(false);
});

/** Pids of running programs with this argument. The one that a test looks for has no mark in its environment. */
async function running(argument: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''));
  const found = await Promise.all(lines);
  return pids.filter((_pid, index) => found[index]?.split('\0').includes(argument));
}

test.runIf(cgroupFolder() !== undefined)(
  'a daemon that cleared its environment and left its session and its parent ends with its command, or the environment',
  { tags: 'cgroups' },
  async () => {
    await using place = await temporaryEnvironment();
    const daemon = (seconds: string) =>
      `env -i setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & sleep 0.01'`;
    const unique = (hours: number) => `${hours * 3600}.${Math.random().toString().slice(2, 12)}`;
    const [first, second] = [unique(1), unique(2)];
    await place.environment.exec(`${daemon(first)}; sleep 60`, { timeoutMs: 400 });
    expect(await running(first)).toEqual([]);
    await place.environment.exec(daemon(second));
    expect(await running(second)).toHaveLength(1);
    await place.environment.cleanup();
    expect(await running(second)).toEqual([]);
  },
);
