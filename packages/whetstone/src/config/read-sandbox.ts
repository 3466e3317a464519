import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { checkShape, warnUnknownKeys } from './check-shape.ts';
import type { Config, SandboxProviderName } from './config.ts';
import { sandboxSchema } from './schema.ts';
import type { Spot } from './spot.ts';

const SANDBOX_PROVIDERS: readonly SandboxProviderName[] = ['process'];

/** `sandbox: process`, or a mapping with `provider`. Never another sandbox than the one that was named. */
export function readSandbox(raw: unknown, spot: Spot): Config['sandbox'] {
  const short = typeof raw === 'string';
  if (raw === undefined || raw === null) return { provider: 'process' };
  if (!short) warnUnknownKeys(sandboxSchema, raw, spot);
  const wanted = short ? raw : checkShape(sandboxSchema, raw, spot)?.provider;
  const provider = SANDBOX_PROVIDERS.find((name) => name === wanted);
  if (wanted !== undefined && !provider) {
    const at = short ? spot : spot.at('provider');
    const hint = suggestion(wanted, SANDBOX_PROVIDERS, 'sandboxes');
    at.error(`there is no sandbox ${JSON.stringify(wanted)}`, { hint });
  }
  return { provider: provider ?? 'process' };
}

/**
 * The sandbox that a command line names.
 * @throws WhetstoneError `sandbox-unknown` for one that this version does not have.
 */
export function sandboxNamed(wanted: string): Config['sandbox'] {
  const provider = SANDBOX_PROVIDERS.find((name) => name === wanted);
  if (provider) return { provider };
  throw new WhetstoneError('sandbox-unknown', `This version has no sandbox ${JSON.stringify(wanted)}.`, {
    hint: suggestion(wanted, SANDBOX_PROVIDERS, 'sandboxes'),
  });
}
