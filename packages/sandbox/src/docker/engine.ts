import { existsSync } from 'node:fs';
import { messageOf, type WhetstoneError } from '@whetstone/errors';
import type Docker from 'dockerode';
import type { Limits } from '../process/resource-group.ts';
import { doesNotStart } from '../process-sandbox/assert-works.ts';

export type Engine = Docker;

/** What an image is: its name, its id, and the digest of its registry, `null` for one that was made here. */
export type ImageFacts = { name: string; id: string; digest: string | null };

const SOCKETS = ['/var/run/docker.sock', '/run/podman/podman.sock'];

/**
 * Opens the engine behind a socket, which has to answer. Without `socket` it is that of `DOCKER_HOST`, Docker's own, or
 * Podman's.
 * @throws WhetstoneError `sandbox-unavailable`
 */
export async function openEngine(socket: string | undefined): Promise<Engine> {
  const found = socket ?? socketOf(process.env.DOCKER_HOST) ?? SOCKETS.find((path) => existsSync(path));
  if (found === undefined) {
    throw unavailable(`there is no socket of an engine at ${SOCKETS.join(' or ')}`, NO_ENGINE);
  }
  const { default: Client } = await loadClient();
  const engine = new Client({ socketPath: found });
  await engine.ping().catch((error: unknown) => {
    throw unavailable(`the engine at ${found} does not answer: ${messageOf(error)}`, NO_ENGINE);
  });
  return engine;
}

/** Optional, because it brings 60 packages along that only this sandbox needs. */
const loadClient = (): Promise<{ default: typeof Docker }> =>
  import('dockerode').catch((error: unknown) => {
    throw unavailable(
      `the package dockerode cannot be loaded: ${messageOf(error)}`,
      'Install it beside Whetstone: npm install dockerode',
    );
  });

const NO_ENGINE =
  'Start Docker (dockerd) or Podman (podman system service), or name its socket with `sandbox.socket`.';

function socketOf(host: string | undefined): string | undefined {
  if (!host) return undefined;
  if (host.startsWith('unix://')) return host.slice('unix://'.length);
  throw unavailable(
    `DOCKER_HOST is ${host}`,
    'Only an engine of this machine works: unix:///PATH/OF/ITS/SOCKET.',
  );
}

/**
 * The image with this name. If the engine has none, it is made by `build`, or pulled where there is nothing to build.
 * @throws WhetstoneError `sandbox-unavailable`
 */
export async function findImage(
  engine: Engine,
  name: string,
  build?: () => Promise<void>,
): Promise<ImageFacts> {
  const image = engine.getImage(name);
  const known = await image.inspect().catch(async () => {
    if (build) await build();
    else
      await pull(engine, name).catch((error: unknown) => {
        throw unavailable(
          `the image ${name} is not on this machine and cannot be pulled: ${messageOf(error).trim()}`,
          'Check its name, or make it first: docker build -t NAME FOLDER.',
        );
      });
    return await image.inspect();
  });
  return { name, id: known.Id, digest: known.RepoDigests?.[0] ?? null };
}

async function pull(engine: Engine, name: string): Promise<void> {
  const progress = await engine.pull(name);
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
  });
}

/** Of these limits, the ones that the engine enforces. */
export async function enforcedBy(engine: Engine): Promise<(limits: Limits) => Limits> {
  const { MemoryLimit, PidsLimit, CpuCfsQuota } = await engine.info();
  return ({ memoryBytes, processes, cpus }) => ({
    ...(MemoryLimit && memoryBytes !== undefined && { memoryBytes }),
    ...(PidsLimit && processes !== undefined && { processes }),
    ...(CpuCfsQuota && cpus !== undefined && { cpus }),
  });
}

export const unavailable = (reason: string, hint: string): WhetstoneError =>
  doesNotStart('docker', `${reason}.`, hint);
