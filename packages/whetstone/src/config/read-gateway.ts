import { resolve } from 'node:path';
import type { z } from 'zod';
import { camelCased } from './camel-cased.ts';
import type { BudgetConfig, GatewayConfig, GatewayMode, UpstreamConfig } from './config.ts';
import { existingPath } from './existing-path.ts';
import { FaultFormError, readFault } from './read-fault.ts';
import type { gatewaySchema } from './schema.ts';
import type { Spot } from './spot.ts';

type RawGateway = z.infer<typeof gatewaySchema>;

const PROVIDERS = ['openai', 'anthropic', 'google'] as const;

/** Keys that apply only to some modes. In another mode they are errors, because a user would expect them to do something. */
const MODES_OF_KEY: Partial<Record<keyof RawGateway, readonly RawGateway['mode'][]>> = {
  script: ['script'],
  cassettes: ['record', 'replay'],
  miss: ['replay'],
  timing: ['replay'],
  upstreams: ['forward', 'record', 'replay'],
  allow_provider_tools: ['forward', 'record', 'replay'],
  allow_endpoints: ['forward', 'record', 'replay'],
  calls_at_once: ['forward', 'record', 'replay'],
};

/** Reads the checked `gateway` mapping; reports what is missing and then returns `undefined`. */
export function readGateway(raw: RawGateway, spot: Spot): GatewayConfig | undefined {
  reportUseless(raw, spot);
  const mode = readMode(raw, spot);
  return (
    mode && {
      ...mode,
      faults: readFaults(raw.faults ?? [], spot.at('faults')),
      ...camelCased({
        keepExchanges: raw.keep_exchanges,
        budget: readBudget(raw.budget),
        runBudget: readBudget(raw.run_budget),
      }),
    }
  );
}

function reportUseless(raw: RawGateway, spot: Spot): void {
  for (const [key, modes] of Object.entries(MODES_OF_KEY)) {
    if (raw[key as keyof RawGateway] == null || modes.includes(raw.mode)) continue;
    const hint = `only applies to mode ${modes.join(', ')}`;
    spot.at(key).error(`does not apply to mode ${raw.mode}`, { hint, mark: 'key' });
  }
}

function readMode(raw: RawGateway, spot: Spot): GatewayMode | undefined {
  const forward = {
    upstreams: PROVIDERS.flatMap((provider) => {
      const upstream = raw.upstreams?.[provider];
      // `openai:` without a value names the provider and keeps its defaults.
      const isNamed = raw.upstreams != null && Object.hasOwn(raw.upstreams, provider);
      return isNamed ? readUpstream(provider, upstream ?? {}, spot.at('upstreams', provider)) : [];
    }),
    providerTools: raw.allow_provider_tools ?? false,
    allowEndpoints: raw.allow_endpoints ?? [],
    ...camelCased({ callsAtOnce: raw.calls_at_once }),
  };
  switch (raw.mode) {
    case 'script': {
      const at = spot.at('script');
      if (raw.script == null) return missing(at, 'a YAML file of steps, or a TypeScript module');
      const script = existingPath(raw.script, at, 'file');
      return script === undefined ? undefined : { mode: 'script', script };
    }
    case 'forward':
      return { mode: 'forward', ...forward };
    case 'record': {
      if (raw.cassettes == null) return missing(spot.at('cassettes'), 'a folder for the recordings');
      return { mode: 'record', cassettes: resolve(spot.directory, raw.cassettes), ...forward };
    }
    case 'replay': {
      if (raw.cassettes == null) return missing(spot.at('cassettes'), 'the folder of the recordings');
      const cassettes = existingPath(raw.cassettes, spot.at('cassettes'), 'folder');
      const { miss, timing } = raw;
      return cassettes === undefined
        ? undefined
        : { mode: 'replay', cassettes, miss: miss ?? 'strict', timing: timing ?? 'collapsed', ...forward };
    }
  }
}

function missing(spot: Spot, hint: string): undefined {
  spot.error('is required in this mode', { hint });
}

type ProviderName = UpstreamConfig['provider'];
type RawUpstream = NonNullable<NonNullable<RawGateway['upstreams']>[ProviderName]>;

function readUpstream(provider: ProviderName, raw: RawUpstream, spot: Spot): UpstreamConfig {
  const { url, key_env: env, key_file: file, key_command: command } = raw;
  const keys = [
    ...(env == null ? [] : [{ env }]),
    ...(file == null ? [] : [{ file: resolve(spot.directory, file) }]),
    ...(command == null ? [] : [{ command }]),
  ];
  if (keys.length > 1) {
    spot.error('has more than one key', { hint: 'keep only one of key_env, key_file, key_command' });
  }
  return { provider, ...camelCased({ baseUrl: url, key: keys[0] }) };
}

function readFaults(faults: readonly string[], spot: Spot): string[] {
  for (const [index, fault] of faults.entries()) {
    try {
      readFault(fault);
    } catch (error) {
      if (!(error instanceof FaultFormError)) throw error;
      spot.at(index).error(error.message, { hint: error.hint });
    }
  }
  return [...faults];
}

export function readBudget(raw: RawGateway['budget']): BudgetConfig | undefined {
  if (raw == null) return undefined;
  const { usd, ...limits } = raw;
  return camelCased({ costUsd: usd, ...limits });
}
