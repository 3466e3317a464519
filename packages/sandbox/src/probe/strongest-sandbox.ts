import { WhetstoneError } from '@whetstone/errors';
import { createBubblewrapSandboxProvider } from '../bubblewrap/bubblewrap-sandbox.ts';
import { createDockerSandboxProvider } from '../docker/docker-sandbox.ts';
import type { ContainerOptions, SandboxProvider } from '../sandbox.ts';
import { createSandboxRuntimeProvider } from '../sandbox-runtime/runtime-sandbox.ts';
import { attacks, type Finding } from './attacks.ts';
import { probeSandbox } from './probe-sandbox.ts';

/** `reasons`: why nothing stronger, in sentences; empty: nothing is stronger. */
export type ChosenSandbox = {
  provider: 'process' | 'bubblewrap' | 'sandbox-runtime' | 'docker';
  reasons: string[];
  /** What was tried in it. Absent: it claims nothing. */
  probes?: Finding[];
};

/**
 * The strongest sandbox that this machine proves now. What needs no image comes first: bubblewrap, and on macOS the sandbox
 * runtime. `docker` is tried only with `container`. `scratch`: an empty folder. `readable`: as for a provider. `kept`: existing files and folders that
 * no command may read.
 */
export async function strongestSandbox(options: {
  scratch: string;
  readable?: readonly string[];
  kept?: readonly string[];
  container?: ContainerOptions;
}): Promise<ChosenSandbox> {
  const { kept = [], ...given } = options;
  const reasons: string[] = [];
  for (const [name, create] of Object.entries(SEALED)) {
    if (name === 'docker' && !given.container) continue;
    try {
      const probes = await proveSandbox(await create(given), { scratch: options.scratch, kept });
      return { provider: name as ChosenSandbox['provider'], reasons: [], probes };
    } catch (error) {
      if (!(error instanceof WhetstoneError) || error.code !== 'sandbox-unavailable') throw error;
      reasons.push([error.message.replace(/[^.]$/, '$&.'), error.hint ?? ''].join(' ').trim());
    }
  }
  return { provider: 'process', reasons };
}

const SEALED = {
  ...(process.platform === 'darwin'
    ? { 'sandbox-runtime': createSandboxRuntimeProvider }
    : { bubblewrap: createBubblewrapSandboxProvider }),
  docker: createDockerSandboxProvider,
};

/**
 * Attacks this machine from the sandbox. Resolves with what was tried, all of it in vain.
 * @throws WhetstoneError `sandbox-unavailable` if an attack came through
 */
export async function proveSandbox(
  provider: SandboxProvider,
  places: Parameters<typeof probeSandbox>[1],
): Promise<Finding[]> {
  const probes = await probeSandbox(provider, places);
  const reached = probes.filter((probe) => probe.reached).map(({ attack }) => attacks[attack]);
  if (reached.length === 0) return probes;
  const message = `The sandbox ${provider.name} does not hold here. A command could ${reached.join('; ')}.`;
  throw new WhetstoneError('sandbox-unavailable', message);
}
