import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, mkdirSync, mkdtempSync, openSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createDockerSandboxProvider } from '../docker/docker-sandbox.ts';
import { openEngine } from '../docker/engine.ts';
import type { ContainerOptions } from '../sandbox.ts';

/** An image that has only folders, so that tests need no registry: its programs are those of this machine. */
export type TestImage = { container: ContainerOptions; readable: string[]; remove(): Promise<void> };

/** `undefined` where no engine answers, or none that the sandbox `docker` can use. `WHETSTONE_TEST_RUNTIME`: its runtime. */
export async function makeTestImage(): Promise<TestImage | undefined> {
  const scratch = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const made = await importFolders(scratch);
    await createDockerSandboxProvider({ scratch: join(scratch, 's'), ...made });
    return made;
  } catch {
    return undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function importFolders(scratch: string): Promise<TestImage> {
  const engine = await openEngine(undefined);
  const root = join(scratch, 'root');
  for (const name of ['dev', 'etc', 'proc', 'run', 'sys', 'tmp', 'usr', 'var'])
    mkdirSync(join(root, name), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  const readable = ['/usr'];
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    if (lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink())
      symlinkSync(readlinkSync(`/${name}`), join(root, name));
    else readable.push(`/${name}`);
  }
  for (const name of ['group', 'hosts', 'nsswitch.conf', 'passwd', 'resolv.conf'])
    closeSync(openSync(join(root, 'etc', name), 'a'));
  const [repo, tag] = ['whetstone-test', randomUUID()];
  const archive = Readable.from([execFileSync('tar', ['-C', root, '-c', '.'])]);
  const progress = await engine.importImage(archive, { repo, tag });
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
  });
  const image = `${repo}:${tag}`;
  const { DOCKER_HOST, WHETSTONE_TEST_RUNTIME: runtime } = process.env;
  const socket = DOCKER_HOST?.replace('unix://', '');
  return {
    container: { image, ...(socket && { socket }), ...(runtime && { runtime }) },
    readable,
    async remove() {
      await engine.getImage(image).remove();
    },
  };
}
