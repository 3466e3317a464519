import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { findDrivenAgent, type KnownDrivenAgent } from '@whetstone/agents';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { openPermissions } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { findRunningGateway } from '../gateway/running-gateways.ts';
import { exportLines, writeShellSettings } from '../gateway/shell-settings.ts';
import type { Streams } from './streams.ts';

export type GatewayEnvOptions = {
  /** Default: the one gateway that runs. */
  gateway?: string;
  /** Default: that of the running gateway. */
  key?: string;
  /** Default: the agent's own. */
  model?: string;
  json?: boolean;
};

/**
 * Prints the `export` lines that point an agent, or without a kind the SDKs of providers, at a gateway, for `eval`. With
 * `json`: the variables as one object.
 */
export async function gatewayEnvCommand(
  kind: string | undefined,
  options: GatewayEnvOptions,
  { stdout }: Streams,
): Promise<number> {
  const agent = kind === undefined ? undefined : findDrivenAgent(kind);
  const { baseUrl, key, folder } = await meantGateway(options);
  const print = (variables: Readonly<Record<string, string>>) =>
    stdout.write(options.json ? `${JSON.stringify(variables, null, 2)}\n` : exportLines(variables));
  if (agent) {
    requireModel(agent, options);
    const settings = await writeShellSettings(agent, {
      access: { kind: 'key', baseUrl, key },
      ...present({ model: options.model }),
      home: join(folder, agent.kind),
      workingDirectory: process.cwd(),
      permissions: openPermissions,
    });
    print(settings);
  } else {
    // Loaded only here, because it is large beside what an agent's lines need.
    const { laneEnvironment } = await import('@whetstone/gateway');
    print(laneEnvironment(baseUrl, key));
  }
  return 0;
}

function requireModel({ kind, release }: KnownDrivenAgent, { model }: GatewayEnvOptions): void {
  if (release.needsModel === undefined || model !== undefined) return;
  throw new WhetstoneError('agent-model-missing', `${kind} needs a model: ${release.needsModel}.`, {
    where: kind,
    hint: 'Add --model MODEL.',
  });
}

async function meantGateway({ gateway, key }: GatewayEnvOptions) {
  if (key === undefined) return findRunningGateway(gateway);
  if (gateway === undefined || !/^https?:$/.test(URL.parse(gateway)?.protocol ?? '')) {
    const message =
      gateway === undefined
        ? 'A key needs the base URL of its gateway.'
        : `${JSON.stringify(gateway)} is not the base URL of a gateway.`;
    throw new WhetstoneError('gateway-option-invalid', message, {
      where: gateway === undefined ? '--key' : '--gateway',
      hint: 'Add --gateway http://HOST:PORT/lanes/ID.',
    });
  }
  const baseUrl = gateway.replace(/\/+$/, '').replace(/\/v1$/, '');
  // This user did not start the gateway, so its files stay in the cache.
  const name = createHash('sha256').update(baseUrl).digest('hex').slice(0, 12);
  return { baseUrl, key, folder: join(cacheFolder(), 'gateways', `at-${name}`) };
}
