import { present } from '@whetstone/events/present';
import { createGateway, type GatewayOptions, type Lane, type LaneOptions } from '@whetstone/gateway';
import { announceGateway } from './running-gateways.ts';

type StartGatewayOptions = Pick<GatewayOptions, 'host' | 'port' | 'rate' | 'onKey'> &
  Omit<LaneOptions, 'owner'>;

/** A gateway with one lane. Other programs of the same user can find it (`running-gateways.ts`). */
export type StartedGateway = {
  lane: Lane;
  /** Ends its calls and writes its ledger. */
  close(): Promise<void>;
};

/** @throws GatewayError */
export async function startGateway({
  host,
  port,
  rate,
  onKey,
  ...options
}: StartGatewayOptions): Promise<StartedGateway> {
  const server = await createGateway(present({ host, port, rate, onKey }));
  try {
    const lane = await server.open({ owner: 'gateway', ...options });
    const { baseUrl, key } = lane;
    const announced = await announceGateway({ mode: options.mode.kind, baseUrl, key });
    return {
      lane,
      async close() {
        await using _ = announced;
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
