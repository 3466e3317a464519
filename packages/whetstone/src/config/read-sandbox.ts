import { homedir } from 'node:os';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import { isUnder, nameOfBuild, readHostRule } from '@whetstone/sandbox';
import type { z } from 'zod';
import { checkShape, warnUnknownKeys } from './check-shape.ts';
import type { Config, SandboxProviderName } from './config.ts';
import { existingPath } from './existing-path.ts';
import { sandboxSchema } from './schema.ts';
import type { Spot } from './spot.ts';

const SANDBOX_PROVIDERS: readonly SandboxProviderName[] = [
  'auto',
  'bubblewrap',
  'docker',
  'process',
  'sandbox-runtime',
];

/** `sandbox: auto`, or a mapping with `provider`. Never another sandbox than the one that was named. */
export function readSandbox(raw: unknown, spot: Spot): Config['sandbox'] {
  if (raw === undefined || raw === null) return { provider: 'auto' };
  if (typeof raw === 'string') {
    const provider = providerNamed(raw, spot);
    if (provider === 'docker') spot.error('needs an image', { hint: IMAGE_HINT });
    return { provider };
  }
  warnUnknownKeys(sandboxSchema, raw, spot);
  const fields = checkShape(sandboxSchema, raw, spot);
  const provider = providerNamed(fields?.provider, spot.at('provider'));
  const readable = (fields?.readable ?? []).flatMap((path, index) =>
    readablePath(path, spot.at('readable', index)),
  );
  if (readable.length > 0 && provider === 'process') {
    spot.at('readable').warning('has no effect: commands of the sandbox process read what you can read');
  }
  const hosts = readHosts(fields?.hosts, provider, spot.at('hosts'));
  const setupHosts = readHosts(fields?.setup_hosts, provider, spot.at('setup_hosts'));
  const container = containerOf(fields ?? {}, provider, spot);
  const { memory_mb: memory, processes, cpus, disk_mb: disk } = fields?.limits ?? {};
  if (disk !== undefined && (provider === 'docker' || provider === 'sandbox-runtime')) {
    spot.at('limits', 'disk_mb').error(`the sandbox ${provider} does not limit disk space`);
  }
  const limits = present({ memoryBytes: memory && Math.round(memory * 1e6), processes, cpus });
  return {
    provider,
    ...(readable.length > 0 && { readable }),
    ...(Object.keys(limits).length > 0 && { limits }),
    // Of whole blocks.
    ...(disk !== undefined && { diskBytes: Math.round((disk * 1e6) / 4096) * 4096 }),
    ...(hosts && hosts.length > 0 && { hosts }),
    ...present({ setupHosts }),
    ...(container && { container }),
  };
}

/** An empty list says that no host is reached. */
function readHosts(
  listed: readonly string[] | null | undefined,
  provider: SandboxProviderName,
  spot: Spot,
): string[] | undefined {
  if (!listed) return undefined;
  if (provider === 'process') {
    spot.warning('has no effect: commands of the sandbox process have the network of this machine');
  }
  for (const [index, text] of listed.entries()) {
    const rule = readHostRule(text);
    if ('problem' in rule) {
      const hint = 'write `NAME`, `*.NAME` or `NAME:PORT`, such as `npm.example.com`';
      spot.at(index).error(`${JSON.stringify(text)} ${rule.problem}`, { hint });
    }
  }
  return [...listed];
}

const IMAGE_HINT =
  'write `sandbox: { provider: docker, image: NAME }`, or `build: { context: FOLDER }` in place of `image`';

type ContainerFields = Pick<z.output<typeof sandboxSchema>, 'image' | 'build' | 'runtime' | 'socket'>;

function containerOf(
  { image, build, runtime, socket }: ContainerFields,
  provider: SandboxProviderName,
  spot: Spot,
): Config['sandbox']['container'] {
  if (provider !== 'docker' && provider !== 'auto') {
    for (const [key, value] of Object.entries({ image, build, runtime, socket })) {
      if (value != null) spot.at(key).warning(`has no effect: the sandbox ${provider} has no containers`);
    }
    return undefined;
  }
  const engine = present({ runtime: runtime ?? undefined, socket: socket ?? undefined });
  if (build != null) {
    if (image != null) spot.at('image').error('has no effect beside `build`', { hint: 'remove one of them' });
    const made = readBuild(build, spot.at('build'));
    return made && { image: nameOfBuild(made), build: made, ...engine };
  }
  if (image != null) return { image, ...engine };
  if (provider === 'docker') spot.error('needs an image', { hint: IMAGE_HINT });
  return undefined;
}

/** The folder of the configuration and its `Dockerfile`, unless others are named. */
function readBuild(
  { context, dockerfile }: NonNullable<ContainerFields['build']>,
  spot: Spot,
): { context: string; dockerfile: string } | undefined {
  const folder = existingPath(context ?? '.', spot.at('context'), 'folder');
  if (folder === undefined) return undefined;
  const file = dockerfile ?? 'Dockerfile';
  const found = existingPath(join(folder, file), spot.at('dockerfile'), 'file');
  return found === undefined ? undefined : { context: folder, dockerfile: file };
}

function providerNamed(wanted: string | null | undefined, at: Spot): SandboxProviderName {
  const provider = SANDBOX_PROVIDERS.find((name) => name === wanted);
  if (wanted != null && !provider) {
    const hint = suggestion(wanted, SANDBOX_PROVIDERS, 'sandboxes');
    at.error(`there is no sandbox ${JSON.stringify(wanted)}`, { hint });
  }
  return provider ?? 'auto';
}

function readablePath(path: string, spot: Spot): string[] {
  const absolute = existingPath(path, spot);
  if (absolute === undefined) return [];
  // What the sandbox is there to hide.
  if (!isUnder(absolute, homedir())) return [absolute];
  spot.error(`is too much: ${absolute}`, { hint: 'name the folders of the tools that the commands need' });
  return [];
}

/**
 * The sandbox that a command line names. `stated`: what the configuration says, whose container and hosts it takes.
 * @throws WhetstoneError `sandbox-unknown` for one that this version does not have, `sandbox-image-missing` for `docker` where
 * the configuration names no image.
 */
export function sandboxNamed(wanted: string, stated?: Config['sandbox']): Config['sandbox'] {
  const provider = SANDBOX_PROVIDERS.find((name) => name === wanted);
  if (!provider) {
    throw new WhetstoneError('sandbox-unknown', `This version has no sandbox ${JSON.stringify(wanted)}.`, {
      hint: suggestion(wanted, SANDBOX_PROVIDERS, 'sandboxes'),
    });
  }
  const { container, hosts, setupHosts } = stated ?? {};
  if (provider === 'docker' && !container) {
    const message = 'The sandbox `docker` needs an image, and the configuration names none.';
    throw new WhetstoneError('sandbox-image-missing', message, { hint: IMAGE_HINT });
  }
  return { provider, ...present({ container, hosts, setupHosts }) };
}
