import { present } from '@whetstone/events/present';
import {
  type Budget,
  createGateway,
  type FaultRule,
  type Lane,
  type LaneMode,
  type LedgerLine,
} from '@whetstone/gateway';
import { announceGateway } from './running-gateways.ts';

export type StartGatewayOptions = {
  mode: LaneMode;
  /** Default: loopback. */
  host?: string;
  /** Default: any free port. */
  port?: number;
  budget: Budget;
  /** Leaves tools that run at the provider in the requests. */
  allowProviderTools: boolean;
  faults: readonly FaultRule[];
  /** A JSONL file that ledger lines are appended to. */
  ledgerFile?: string;
  onCall: (line: LedgerLine) => void;
};

/** A gateway with one lane. Other programs of the same user can find it (`running-gateways.ts`). */
export type StartedGateway = {
  lane: Lane;
  /** Ends its calls and writes its ledger. */
  close(): Promise<void>;
};

/** @throws GatewayError */
export async function startGateway(options: StartGatewayOptions): Promise<StartedGateway> {
  const { mode, budget, allowProviderTools, faults, ledgerFile, onCall, host, port } = options;
  const server = await createGateway(present({ host, port }));
  try {
    const lane = await server.open({
      owner: 'gateway',
      mode,
      budget,
      faults,
      ...(allowProviderTools && { allowProviderTools }),
      onCall,
      ...present({ ledgerFile }),
    });
    const announced = await announceGateway({ mode: mode.kind, baseUrl: lane.baseUrl, key: lane.key });
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
