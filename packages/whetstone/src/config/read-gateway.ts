import { resolve } from 'node:path';
import type { z } from 'zod';
import { camelCased } from './camel-cased.ts';
import type { BudgetConfig, GatewayConfig, GatewayMode, UpstreamConfig } from './config.ts';
import { existingPath, type ReadContext } from './read-context.ts';
import { FaultFormError, readFault } from './read-fault.ts';
import type { gatewaySchema } from './schema.ts';

type RawGateway = z.infer<typeof gatewaySchema>;
type Mode = RawGateway['mode'];

const PROVIDERS = ['openai', 'anthropic', 'google'] as const;

/** Keys that apply only to some modes. In another mode they are errors, because a user would expect them to do something. */
const MODES_OF_KEY: Partial<Record<keyof RawGateway, readonly Mode[]>> = {
  script: ['script'],
  cassettes: ['record', 'replay'],
  miss: ['replay'],
  timing: ['replay'],
  upstreams: ['forward', 'record', 'replay'],
  allow_provider_tools: ['forward', 'record', 'replay'],
};

/** Reads the checked `gateway` mapping; reports what is missing and then returns `undefined`. */
export function readGateway(raw: RawGateway, context: ReadContext): GatewayConfig | undefined {
  reportUseless(raw, context);
  const mode = readMode(raw, context);
  return (
    mode && {
      ...mode,
      faults: readFaults(raw.faults ?? [], context),
      ...camelCased({ budget: readBudget(raw.budget), runBudget: readBudget(raw.run_budget) }),
    }
  );
}

function reportUseless(raw: RawGateway, { report }: ReadContext): void {
  for (const [key, modes] of Object.entries(MODES_OF_KEY)) {
    if (raw[key as keyof RawGateway] == null || modes.includes(raw.mode)) continue;
    report.error(['gateway', key], `does not apply to mode ${raw.mode}`, {
      hint: `only applies to mode ${modes.join(', ')}`,
      mark: 'key',
    });
  }
}

function readMode(raw: RawGateway, context: ReadContext): GatewayMode | undefined {
  const forward = {
    upstreams: PROVIDERS.flatMap((provider) => {
      const upstream = raw.upstreams?.[provider];
      // `openai:` alone names the provider and leaves the rest as it is.
      const isNamed = raw.upstreams != null && Object.hasOwn(raw.upstreams, provider);
      return isNamed ? readUpstream(provider, upstream ?? {}, context) : [];
    }),
    providerTools: raw.allow_provider_tools ?? false,
  };
  switch (raw.mode) {
    case 'script': {
      if (raw.script == null)
        return missing('script', 'a YAML file of steps, or a TypeScript module', context);
      const script = existingPath(raw.script, ['gateway', 'script'], context, 'file');
      return script === undefined ? undefined : { mode: 'script', script };
    }
    case 'forward':
      return { mode: 'forward', ...forward };
    case 'record': {
      if (raw.cassettes == null) return missing('cassettes', 'a folder for the recordings', context);
      return { mode: 'record', cassettes: resolve(context.directory, raw.cassettes), ...forward };
    }
    case 'replay': {
      if (raw.cassettes == null) return missing('cassettes', 'the folder of the recordings', context);
      const cassettes = existingPath(raw.cassettes, ['gateway', 'cassettes'], context, 'folder');
      const { miss, timing } = raw;
      return cassettes === undefined
        ? undefined
        : { mode: 'replay', cassettes, miss: miss ?? 'strict', timing: timing ?? 'collapsed', ...forward };
    }
  }
}

function missing(key: string, what: string, { report }: ReadContext): undefined {
  report.error(['gateway', key], 'is required in this mode', { hint: what });
}

function readUpstream(
  provider: UpstreamConfig['provider'],
  raw: NonNullable<NonNullable<RawGateway['upstreams']>[UpstreamConfig['provider']]>,
  { directory, report }: ReadContext,
): UpstreamConfig {
  const { url, key_env: env, key_file: file, key_command: command } = raw;
  const keys = [
    ...(env == null ? [] : [{ env }]),
    ...(file == null ? [] : [{ file: resolve(directory, file) }]),
    ...(command == null ? [] : [{ command }]),
  ];
  if (keys.length > 1) {
    report.error(['gateway', 'upstreams', provider], 'has more than one key', {
      hint: 'keep only one of key_env, key_file, key_command',
    });
  }
  return { provider, ...camelCased({ baseUrl: url, key: keys[0] }) };
}

function readFaults(faults: readonly string[], { report }: ReadContext): string[] {
  for (const [index, fault] of faults.entries()) {
    try {
      readFault(fault);
    } catch (error) {
      if (!(error instanceof FaultFormError)) throw error;
      report.error(['gateway', 'faults', index], error.message, { hint: error.hint });
    }
  }
  return [...faults];
}

function readBudget(raw: RawGateway['budget']): BudgetConfig | undefined {
  if (raw == null) return undefined;
  const { usd, ...limits } = raw;
  return camelCased({ costUsd: usd, ...limits });
}
