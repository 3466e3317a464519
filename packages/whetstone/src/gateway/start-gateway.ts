import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import {
  type Budget,
  createGateway,
  type FaultRule,
  GatewayError,
  type GatewayErrorCode,
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
  /** Leaves the tools in requests that run at the provider. */
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

/** @throws WhetstoneError with the code of a `GatewayError` */
export async function startGateway(options: StartGatewayOptions): Promise<StartedGateway> {
  const { mode, budget, allowProviderTools, faults, ledgerFile, onCall, host, port } = options;
  const server = await asUserError(
    createGateway({
      ...present({ host, port }),
    }),
  );
  try {
    const lane = await asUserError(
      server.open({
        owner: 'gateway',
        mode,
        budget,
        faults,
        ...(allowProviderTools && { allowProviderTools }),
        onCall,
        ...present({ ledgerFile }),
      }),
    );
    const announced = await announceGateway({ mode: mode.kind, baseUrl: lane.baseUrl, key: lane.key });
    return {
      lane,
      async close() {
        await using _ = announced;
        await asUserError(server.close());
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** What the user of a command can mend, of what a gateway says to a program. */
export async function asUserError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const hint = hints[error.code];
    throw new WhetstoneError(error.code, error.message, {
      ...present({ hint }),
      exitCode: 2,
      cause: error,
    });
  }
}

const hints: Partial<Record<GatewayErrorCode, string>> = {
  'listen-failed': 'Choose another --port, or leave it out for a free one.',
  'invalid-script': 'A script is a YAML file of steps, or a module whose default export is defineScript(…).',
  'key-unavailable': 'Set the variable, or name another one: --key-env PROVIDER=VARIABLE.',
  'cassette-unwritable': 'Recording makes a new file in an existing folder; it overwrites none.',
  'cassette-unreadable': 'Record one with --mode record --cassette FILE.',
  'ledger-unwritable': 'The folder of the ledger must exist, with room on its disk.',
};
