import type { Gateway, Script } from '@whetstone/gateway';
import type { Config } from '../config/config.ts';
import { WhetstoneError } from '../error.ts';

/** The gateway of a run, listening, and the script that it plays. Disposing closes it. */
export type RunGateway = { server: Gateway; script: Script } & AsyncDisposable;

/**
 * Opens the gateway that a configuration asks for, if it does. The package is loaded here and not before: most runs have
 * no gateway, and it is half of what a run would load.
 * @throws WhetstoneError `gateway-script` for a script that cannot be loaded.
 */
export async function openGateway({ gateway }: Config): Promise<RunGateway | undefined> {
  if (!gateway) return undefined;
  const { createGateway, GatewayError, loadScript } = await import('@whetstone/gateway');
  const script = await loadScript(gateway.script).catch((error: unknown) => {
    if (!(error instanceof GatewayError)) throw error;
    throw new WhetstoneError('gateway-script', error.message, {
      hint: 'gateway.script names a YAML file of steps, or a module whose default export is defineScript(…).',
      exitCode: 2,
      cause: error,
    });
  });
  const server = await createGateway();
  return { server, script, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
