import { createGateway, type Gateway, type Lane, type LaneOptions, type ScriptStep } from '../index.ts';
import { keyInFile, upstreamsAt } from './provider.ts';

/** Ways from a client to a scripted model: the lane plays the script, or forwards to another gateway that plays it. */
export const routes = ['script', 'forward'] as const;

export type ServedLane = {
  /** The lane that the client talks to. */
  lane: Lane;
  /** The lane that plays the script; on a direct route the same lane. */
  provider: Lane;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens a lane whose model says `step`. Faults apply at the model; a budget applies to the client's lane. */
export async function serve(
  gateway: Gateway,
  route: (typeof routes)[number],
  step: ScriptStep,
  { faults = [], ...options }: Pick<LaneOptions, 'faults' | 'budget'> = {},
): Promise<ServedLane> {
  const mode = { kind: 'script', script: { name: 'scripted-model', play: () => step } } as const;
  if (route === 'script') {
    const lane = await gateway.open({ owner: 'a', mode, faults, ...options });
    return { lane, provider: lane, [Symbol.asyncDispose]: lane.close };
  }
  const upstream = await createGateway();
  const provider = await upstream.open({ owner: 'provider', mode, faults });
  const upstreams = upstreamsAt(provider.baseUrl, keyInFile(provider.key));
  const lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams }, ...options });
  return {
    lane,
    provider,
    async [Symbol.asyncDispose]() {
      await lane.close();
      await upstream.close();
    },
  };
}
