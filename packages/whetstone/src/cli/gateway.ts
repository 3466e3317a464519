import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Budget, FaultRule } from '@whetstone/gateway';
import { createMask } from '@whetstone/sandbox/mask';
import { FaultFormError, readFault } from '../config/read-fault.ts';
import { totalCalls } from '../gateway/call-totals.ts';
import { type ModeFlags, readLaneMode } from '../gateway/mode-flags.ts';
import { type StartedGateway, startGateway } from '../gateway/start-gateway.ts';
import { createCallDisplay } from './gateway-calls.ts';
import { onEndSignal } from './interrupt.ts';
import type { Streams } from './streams.ts';

export type GatewayCommandOptions = ModeFlags & {
  host?: string;
  port?: number;
  budgetUsd?: number;
  budgetTokens?: number;
  budgetCalls?: number;
  budgetMinutes?: number;
  /** In the short form, or as JSON. */
  fault: string[];
  allowProviderTools?: boolean;
  ledger?: string;
  json?: boolean;
};

/**
 * Runs a gateway with one lane until SIGINT, SIGTERM or SIGHUP. Prints each call as it ends, and the totals at the end.
 * Exit code 0, because a signal is the usual end; 130 after a second signal, which ends it at once.
 */
export async function gatewayCommand(
  options: GatewayCommandOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const mode = await readLaneMode(options);
  const { host, port, ledger, callsAtOnce } = options;
  const display = await createCallDisplay(stdout, options.json ?? false);
  const mask = createMask([]);
  // As a whole, because the display shortens texts, and part of a key would not be found.
  const masked = <Shown extends object>(value: Shown): Shown => JSON.parse(mask.text(JSON.stringify(value)));
  const end = Promise.withResolvers<void>();
  using _ = onEndSignal(end.resolve);
  const gateway = await startGateway({
    mode,
    ...present({ host, port }),
    budget: budgetOf(options),
    faults: options.fault.map(readFaultFlag),
    ...(options.allowProviderTools && { allowProviderTools: true }),
    allowEndpoints: options.allowEndpoint,
    ...(callsAtOnce !== undefined && { rate: { most: callsAtOnce } }),
    ...(ledger !== undefined && { ledgerFile: resolve(ledger) }),
    mask: mask.text,
    onKey: (key) => mask.add([key]),
    onCall: (line) => display.show(masked(line)),
  });
  const startedAt = performance.now();
  (options.json ? stderr : stdout).write(introduction(mode.kind, gateway));
  await end.promise;
  try {
    await gateway.close(); // the last calls are shown meanwhile
  } finally {
    display.stop();
    const wall_ms = Math.round(performance.now() - startedAt);
    display.totals(masked({ ...totalCalls(gateway.lane.ledger), wall_ms }));
  }
  return 0;
}

const introduction = (mode: string, { lane }: StartedGateway): string =>
  `Gateway (${mode}) at ${lane.baseUrl}
Point an agent at it in another shell:  eval "$(whetstone gateway env AGENT)"
Ctrl-C ends it.

`;

function budgetOf(options: GatewayCommandOptions): Budget {
  const { budgetUsd: costUsd, budgetTokens: tokens, budgetCalls: calls, budgetMinutes } = options;
  const wallMs = budgetMinutes === undefined ? undefined : budgetMinutes * 60_000;
  return present({ costUsd, tokens, calls, wallMs });
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
