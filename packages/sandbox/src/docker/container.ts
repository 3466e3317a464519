import { type Duplex, PassThrough, pipeline, type Readable } from 'node:stream';
import { messageOf } from '@whetstone/errors';
import type Docker from 'dockerode';
import type { Owner } from '../process/launcher-interface.ts';
import type { Limits } from '../process/resource-group.ts';
import { type Engine, unavailable } from './engine.ts';

/** What all containers of a sandbox have in common. `mounts`: what they see beside the image. */
export type ContainerPlan = {
  engine: Engine;
  image: string;
  runtime: string | undefined;
  user: Owner;
  limits: Limits;
  mounts: readonly ContainerMount[];
};

/** `isOfSeal`: only where the network is not that of this machine, which the engine describes better. */
export type ContainerMount = { source: string; target: string; isReadOnly: boolean; isOfSeal?: boolean };

/** `none`: only its own loopback. Else that of this machine, or that of another container, by its id. */
export type ContainerNetwork = 'none' | 'host' | { container: string };

/** A container that runs commands one after another. */
export type Container = {
  id: string;
  /** Its first process, by its id on this machine. */
  pid: number;
  exec(program: ContainerProgram): Promise<Running>;
  /** Ends whatever runs in it. Resolves when the engine has removed it. Idempotent. */
  remove(): Promise<void>;
};

export type ContainerProgram = {
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
  folder?: string;
  stdin?: Readable | undefined;
};

export type Running = { stdout: Readable; stderr: Readable /** Never rejects. */; exited: Promise<number> };

/** Of all containers of Whetstone, for whoever looks at the list of the engine. */
const LABEL = 'dev.whetstone.sandbox';

/**
 * The first process of a container. It takes in what loses its parent, and ends when its input does, which is when the
 * process of Whetstone does. Commands run as another user, who cannot end it.
 */
const FIRST_PROCESS = 'exec 3<&0; cat <&3 >/dev/null & wait';

/** How many processes a container has in which no command runs. */
export const IDLE_PROCESSES = 2;

const KILLED = 137;

const ABANDONED_SECONDS = 60;

/** Removes containers that a process made and did not start, because it was killed, and ended ones that Podman keeps. */
export async function sweepContainers(engine: Engine): Promise<void> {
  const made = await engine.listContainers({
    all: true,
    filters: { label: [LABEL], status: ['created', 'exited'] },
  });
  const abandoned = made.filter(({ Created }) => Created < Date.now() / 1000 - ABANDONED_SECONDS);
  for (const { Id } of abandoned) {
    // Somebody else may sweep too.
    await engine
      .getContainer(Id)
      .remove()
      .catch(() => undefined);
  }
}

/** @throws WhetstoneError `sandbox-unavailable` if the image or the engine cannot do that */
export async function startContainer(plan: ContainerPlan, network: ContainerNetwork): Promise<Container> {
  const { engine, user } = plan;
  const container = await engine.createContainer(settings(plan, network)).catch(cannotStart);
  try {
    const input = (await container.attach({ stream: true, stdin: true, hijack: true })) as Duplex;
    // Its end is that of the container.
    input.on('error', () => undefined);
    await container.start();
    const { State } = await container.inspect();
    let removing: Promise<void> | undefined;
    return {
      id: container.id,
      pid: State.Pid,
      exec: (program) => exec(container, program, user),
      remove: () => (removing ??= remove(container).finally(() => input.destroy())),
    };
  } catch (error) {
    await container.remove({ force: true }).catch(() => undefined);
    return cannotStart(error);
  }
}

function cannotStart(error: unknown): never {
  const reason = messageOf(error).trim().replace(/\.$/, '');
  throw unavailable(`the engine did not start a container: ${reason}`, 'The image needs /bin/sh and cat.');
}

function settings(
  { image, runtime, limits, mounts }: ContainerPlan,
  network: ContainerNetwork,
): Docker.ContainerCreateOptions {
  const { memoryBytes, processes, cpus } = limits;
  const isJoined = typeof network === 'object';
  return {
    Image: image,
    Labels: { [LABEL]: String(process.pid) },
    Entrypoint: ['/bin/sh', '-c', FIRST_PROCESS],
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    ...(network === 'none' && { Hostname: 'sandbox' }),
    HostConfig: {
      AutoRemove: true,
      ...(runtime !== undefined && { Runtime: runtime }),
      NetworkMode: isJoined ? `container:${network.container}` : network,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,mode=1777', '/var/tmp': 'rw,exec,nosuid,nodev,mode=1777' },
      Mounts: mounts
        .filter(({ isOfSeal }) => !isOfSeal || network !== 'host')
        .map(({ source, target, isReadOnly }) => ({
          ...{ Type: 'bind' as const, Source: source, Target: target, ReadOnly: isReadOnly },
        })),
      // No swap on top of it.
      ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
      ...(processes !== undefined && { PidsLimit: processes + IDLE_PROCESSES }),
      ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    },
  };
}

async function exec(
  container: Docker.Container,
  { argv, env = {}, folder = '/', stdin }: ContainerProgram,
  { uid, gid }: Owner,
): Promise<Running> {
  const made = await container.exec({
    Cmd: [...argv],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: folder,
    User: `${uid}:${gid}`,
    ...{ AttachStdin: stdin !== undefined, AttachStdout: true, AttachStderr: true },
  });
  const stream = await made.start({ hijack: true, stdin: stdin !== undefined });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  container.modem.demuxStream(stream, stdout, stderr);
  const closed = new Promise<void>((resolve) => {
    stream
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve());
  });
  if (stdin) pipeline(stdin, stream, () => undefined);
  const exited = closed.then(async () => {
    stream.destroy();
    stdout.end();
    stderr.end();
    stdin?.destroy();
    return await exitCodeOf(made);
  });
  return { stdout, stderr, exited };
}

/** Its output can end before it does. Without its container it was killed. */
async function exitCodeOf(made: Docker.Exec): Promise<number> {
  for (;;) {
    const state = await made.inspect().catch(() => undefined);
    if (!state?.Running) return state?.ExitCode ?? KILLED;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function remove(container: Docker.Container): Promise<void> {
  const isGone = container.wait({ condition: 'removed' }).catch(() => undefined);
  await container.kill({ signal: 'KILL' }).catch(() => undefined);
  // Podman 4.3 does not do that itself.
  await container.remove({ force: true }).catch(() => undefined);
  await isGone;
}
