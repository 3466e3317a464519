import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Budget, FaultRule } from '@whetstone/gateway';
import { FaultFormError, readFault } from '../config/read-fault.ts';
import { totalCalls } from '../gateway/call-totals.ts';
import { type ModeFlags, readLaneMode } from '../gateway/mode-flags.ts';
import { type StartedGateway, startGateway } from '../gateway/start-gateway.ts';
import { createCallDisplay } from './gateway-calls.ts';

export type GatewayCommandOptions = ModeFlags & {
  host?: string;
  port?: number;
  budgetUsd?: number;
  budgetTokens?: number;
  budgetCalls?: number;
  budgetMinutes?: number;
  /** As a user writes them. */
  fault: string[];
  allowProviderTools?: boolean;
  ledger?: string;
  json?: boolean;
};

type Streams = { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream };

/**
 * Runs a gateway with one lane until SIGINT, SIGTERM or SIGHUP; prints each call as it ends, and at the end what they
 * come to. Leaving it is how it ends, so the exit code is 0 then; a second signal leaves at once, with 130.
 */
export async function gatewayCommand(
  options: GatewayCommandOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const mode = await readLaneMode(options);
  const { host, port, ledger } = options;
  const display = createCallDisplay(stdout, options.json ?? false);
  using end = onEndSignal();
  const gateway = await startGateway({
    mode,
    ...present({ host, port }),
    budget: budgetOf(options),
    faults: options.fault.map(readFaultFlag),
    allowProviderTools: options.allowProviderTools ?? false,
    ...(ledger === undefined ? {} : { ledgerFile: resolve(ledger) }),
    onCall: display.show,
  });
  const startedAt = performance.now();
  (options.json ? stderr : stdout).write(introduction(mode.kind, gateway));
  await end.asked;
  try {
    await gateway.close(); // the last calls are shown meanwhile
  } finally {
    display.stop();
    const wall_ms = Math.round(performance.now() - startedAt);
    display.totals({ ...totalCalls(gateway.lane.ledger), wall_ms });
  }
  return 0;
}

const introduction = (mode: string, { lane }: StartedGateway): string =>
  `Gateway (${mode}) at ${lane.baseUrl}
Point an agent at it in another shell:  eval "$(whetstone gateway env AGENT)"
Ctrl-C ends it.

`;

function budgetOf({ budgetUsd, budgetTokens, budgetCalls, budgetMinutes }: GatewayCommandOptions): Budget {
  return {
    ...present({ costUsd: budgetUsd, tokens: budgetTokens, calls: budgetCalls }),
    ...(budgetMinutes === undefined ? {} : { wallMs: budgetMinutes * 60_000 }),
  };
}

/** `asked` resolves at the first signal that asks for the end; the second one gets it. */
function onEndSignal(): { asked: Promise<void> } & Disposable {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  let isAsked = false;
  const handle = (): void => {
    if (isAsked) process.exit(130);
    isAsked = true;
    ask();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, handle);
  return {
    asked,
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, handle);
    },
  };
}

function readFaultFlag(text: string): FaultRule {
  try {
    return readFault(text);
  } catch (error) {
    if (!(error instanceof FaultFormError)) throw error;
    const { message, hint } = error;
    throw new WhetstoneError('fault-invalid', `${message}.`, { where: `--fault ${text}`, hint });
  }
}
