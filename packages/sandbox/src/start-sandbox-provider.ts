import { WhetstoneError } from '@whetstone/errors';
import { createBubblewrapSandboxProvider } from './bubblewrap/bubblewrap-sandbox.ts';
import { createDockerSandboxProvider } from './docker/docker-sandbox.ts';
import {
  createProcessSandboxProvider,
  type ProcessSandboxOptions,
} from './process-sandbox/process-sandbox.ts';
import type { SandboxProvider } from './sandbox.ts';
import { createSandboxRuntimeProvider } from './sandbox-runtime/runtime-sandbox.ts';

const PROVIDERS: Readonly<Record<string, (options: ProcessSandboxOptions) => Promise<SandboxProvider>>> = {
  bubblewrap: createBubblewrapSandboxProvider,
  docker: createDockerSandboxProvider,
  process: createProcessSandboxProvider,
  'sandbox-runtime': createSandboxRuntimeProvider,
};

/**
 * Starts the provider with this name, and never a weaker one. An unknown name is a `sandbox-unknown` error, and a
 * provider that this machine does not support is a `sandbox-unavailable` error.
 */
export async function startSandboxProvider(
  name: string,
  options: ProcessSandboxOptions,
): Promise<SandboxProvider> {
  const create = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
  if (create) return create(options);
  throw new WhetstoneError('sandbox-unknown', `There is no sandbox provider "${name}".`, {
    hint: `Known: ${Object.keys(PROVIDERS).join(', ')}.`,
  });
}
