import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeSandbox } from './__fixtures__/sandbox-suite.ts';
import { makeTestImage } from './__fixtures__/test-image.ts';
import { openEngine } from './docker/engine.ts';
import { nameOfBuild } from './docker/name-of-build.ts';
import { strongestSandbox } from './probe/strongest-sandbox.ts';
import type { Limits } from './process/resource-group.ts';
import type { Sandbox } from './sandbox.ts';
import { startSandboxProvider } from './start-sandbox-provider.ts';

const image = await makeTestImage();
const { container, readable = [] } = image ?? {};
const options = { ...(container && { container }), readable };

describeSandbox({
  name: 'docker',
  isolation: { processes: 'pid-namespace', neighbours: 'hidden', network: 'gateway-only', level: 2 },
  isThere: image !== undefined,
  tag: 'docker',
  options,
});

describe.runIf(image)('containers', { tags: 'docker' }, () => {
  let scratch: string;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'containers-test-'));
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  async function open(limits: Limits): Promise<Sandbox> {
    const provider = await startSandboxProvider('docker', { ...options, scratch, limits });
    expect((await provider.describe()).limits).toEqual(limits);
    const workdir = mkdtempSync(join(scratch, 'w-'));
    if (provider.owner) chownSync(workdir, provider.owner.uid, provider.owner.gid);
    return provider.start({ workdir, env: {} });
  }

  test('no attack comes through, and `auto` takes containers where one comes out of bubblewrap', async () => {
    const bin = join(scratch, 'toolchain/bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'kept'), 'x\n');
    // Bubblewrap shows the folders of the PATH.
    vi.stubEnv('PATH', `${process.env.PATH}:${bin}`);
    const chosen = await strongestSandbox({
      ...options,
      scratch: join(scratch, 's'),
      kept: [join(bin, 'kept')],
    });
    expect(chosen).toMatchObject({ provider: 'docker', reasons: [] });
    expect(chosen.probes?.filter(({ reached }) => reached)).toEqual([]);
  });

  test('bombs reach their limit, and what was used is measured', async () => {
    await using sandbox = await open({ memoryBytes: 64e6, processes: 40, cpus: 1 });
    await sandbox.runShell(`perl -e '1 while (times)[0] < 0.1'`);
    const { cpuSeconds, peakMemoryBytes, exceeded } = sandbox.usage();
    expect(exceeded).toEqual([]);
    expect(cpuSeconds).toBeGreaterThan(0.09);
    expect(peakMemoryBytes).toBeGreaterThan(500_000);
    expect((await sandbox.runShell(`perl -e '$x = "a" x 200_000_000'`)).exitCode).toBe(137);
    expect(sandbox.usage()).toMatchObject({ exceeded: ['memory'] });
    const bomb = 'bomb() { bomb | bomb & }; bomb; sleep 0.3';
    expect((await sandbox.runShell(bomb)).stderr).toContain('Cannot fork');
    expect(sandbox.usage()).toMatchObject({ exceeded: ['memory', 'processes'] });
    expect((await sandbox.runShell('echo fine')).stdout).toBe('fine\n');
  });

  test('what is not there is an error that says how to get it', async () => {
    const start = (wanted: object) =>
      startSandboxProvider('docker', { scratch, container: { image: 'no', ...wanted } });
    await expect(start({ socket: join(scratch, 'none.sock') })).rejects.toMatchObject({
      code: 'sandbox-unavailable',
      message: expect.stringContaining('none.sock does not answer'),
      hint: expect.stringContaining('Start Docker'),
    });
    await expect(start({ ...container, image: 'localhost:1/no-such' })).rejects.toMatchObject({
      message: expect.stringContaining('localhost:1/no-such is not on this machine and cannot be pulled'),
    });
    await expect(start({ ...container, runtime: 'no-such' })).rejects.toMatchObject({
      message: expect.stringContaining('no-such'),
    });
    await expect(startSandboxProvider('docker', { scratch })).rejects.toMatchObject({
      code: 'sandbox-image-missing',
    });
  });

  test('an image is built once per content, and says what it is', async () => {
    const context = join(scratch, 'context');
    mkdirSync(context);
    writeFileSync(join(context, 'Dockerfile'), `FROM ${container?.image}\nCOPY marker /marker\n`);
    const engine = await openEngine(container?.socket);
    const names: string[] = [];
    const play = async (build: { context: string; dockerfile: string }, name = nameOfBuild(build)) => {
      names.push(name);
      const provider = await startSandboxProvider('docker', {
        ...{ scratch, readable },
        container: { ...container, image: name, build },
      });
      const workdir = mkdtempSync(join(scratch, 'w-'));
      if (provider.owner) chownSync(workdir, provider.owner.uid, provider.owner.gid);
      await using sandbox = await provider.start({ workdir, env: {} });
      const { stdout } = await sandbox.runShell('cat /marker');
      return { stdout, ...(await provider.describe()).container };
    };
    try {
      writeFileSync(join(context, 'marker'), 'one');
      const first = await play({ context, dockerfile: 'Dockerfile' });
      expect(first).toMatchObject({ stdout: 'one', name: names[0], digest: null });
      expect(first.id).toBe((await engine.getImage(names[0] ?? '').inspect()).Id);
      // It is there, so nothing is built, and the folder is not looked at.
      const again = await play({ context: join(scratch, 'gone'), dockerfile: 'Dockerfile' }, names[0]);
      expect(again).toEqual(first);
      writeFileSync(join(context, 'marker'), 'two');
      const second = await play({ context, dockerfile: 'Dockerfile' });
      expect(second.stdout).toBe('two');
      expect(second.id).not.toBe(first.id);
      writeFileSync(join(context, 'Dockerfile'), `FROM ${container?.image}\nCOPY missing /marker\n`);
      await expect(play({ context, dockerfile: 'Dockerfile' })).rejects.toMatchObject({
        code: 'sandbox-unavailable',
        message: expect.stringMatching(/Dockerfile was not built: .*missing/s),
        hint: expect.stringContaining('docker build -f Dockerfile .'),
      });
    } finally {
      for (const name of new Set(names))
        await engine
          .getImage(name)
          .remove()
          .catch(() => undefined);
    }
  });

  test('no container is left', async () => {
    const engine = await openEngine(container?.socket);
    const filters = { ancestor: [container?.image ?? ''] };
    await expect.poll(() => engine.listContainers({ all: true, filters })).toEqual([]);
  });
});

afterAll(() => image?.remove());
