import { createGateway, type FaultRule, type Upstreams, type WireProtocol } from '@whetstone/gateway';
import { script } from './task.ts';

/** A gateway that plays the provider of a second gateway, which cannot know that the answers are scripted. */
export type Provider = AsyncDisposable & {
  /** For the second gateway's lane. */
  upstreams: Upstreams;
};

export async function openProvider(wire: WireProtocol, faults: readonly FaultRule[] = []): Promise<Provider> {
  const gateway = await createGateway();
  const lane = await gateway.open({ owner: 'provider', mode: { kind: 'script', script }, faults });
  const baseUrl = wire.startsWith('openai') ? `${lane.baseUrl}/v1` : lane.baseUrl;
  return {
    upstreams: { [wire]: { baseUrl, key: { command: `printf %s ${lane.key}` } } },
    [Symbol.asyncDispose]: gateway.close,
  };
}
