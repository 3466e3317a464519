import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { type LaneMode, loadScript, type ProviderName, providers, type Upstreams } from '@whetstone/gateway';
import { chooseUpstreams } from './choose-upstreams.ts';

const modeNames = ['forward', 'record', 'replay', 'script'] as const;

/** The command line options that choose where replies come from. */
export type ModeFlags = UpstreamFlags & {
  mode?: (typeof modeNames)[number];
  script?: string;
  cassette?: string;
  miss?: 'strict' | 'lenient' | 'fork';
  timing?: 'collapsed' | 'kept';
  /** Empty: only model calls, token counts and lists of models. */
  allowEndpoint: readonly string[];
  callsAtOnce?: number;
};

/**
 * The mode that the flags choose; loads the script. A flag that the mode does not use is an error.
 * @throws WhetstoneError `gateway-option-invalid`, those of `readUpstreams`; GatewayError `script-invalid`
 */
export async function readLaneMode(flags: ModeFlags): Promise<LaneMode> {
  const { mode, script, cassette, miss = 'strict', timing = 'collapsed' } = flags;
  const isLive = mode === 'forward' || mode === 'record' || (mode === 'replay' && miss === 'fork');
  if (!mode) throw usage('The mode is missing.', `Add --mode with one of ${modeNames.join(', ')}.`);
  if (script !== undefined && mode !== 'script') throw useless('--script', 'script');
  if (cassette !== undefined && mode !== 'record' && mode !== 'replay')
    throw useless('--cassette', 'record or replay');
  if (flags.miss !== undefined && mode !== 'replay') throw useless('--miss', 'replay');
  if (flags.timing !== undefined && mode !== 'replay') throw useless('--timing', 'replay');
  if (!isLive && flags.upstream.length + flags.keyEnv.length > 0) {
    throw useless('--upstream and --key-env', 'forward, record, or replay with --miss fork');
  }
  if (!isLive && flags.callsAtOnce !== undefined) {
    throw useless('--calls-at-once', 'forward, record, or replay with --miss fork');
  }
  if (mode === 'script' && flags.allowEndpoint.length > 0) {
    throw useless('--allow-endpoint', 'forward, record or replay');
  }
  switch (mode) {
    case 'script': {
      if (script === undefined) throw usage('The script is missing.', 'Add --script FILE.');
      return { kind: mode, script: await loadScript(resolve(script)) };
    }
    case 'forward':
      return { kind: mode, upstreams: readUpstreams(flags) };
    case 'record':
      return { kind: mode, upstreams: readUpstreams(flags), ...recording(cassette) };
    case 'replay':
      return miss === 'fork'
        ? { kind: mode, ...recording(cassette), timing, miss, upstreams: readUpstreams(flags) }
        : { kind: mode, ...recording(cassette), timing, miss };
  }
}

/** The cassette. In it a name replaces the home directory of the user, so that it can be replayed with another one. */
function recording(cassette: string | undefined): { cassette: string; names: Record<string, string> } {
  if (cassette === undefined) throw usage('The cassette is missing.', 'Add --cassette FILE.');
  return { cassette: resolve(cassette), names: { [homedir()]: '<home>' } };
}

const useless = (flag: string, modes: string): WhetstoneError =>
  usage(`${flag} only applies to --mode ${modes}.`, 'Leave the option out, or choose that mode.');

const usage = (message: string, hint: string): WhetstoneError =>
  new WhetstoneError('gateway-option-invalid', message, { hint });

/** The command line options that choose providers. */
type UpstreamFlags = {
  /** `NAME`, or `NAME=URL` for a base URL other than the usual one of the provider. */
  upstream: readonly string[];
  /** `NAME=VARIABLE`: the environment variable that holds the provider's key. */
  keyEnv: readonly string[];
};

/**
 * The providers that either flag names. Without flags, those of `chooseUpstreams`.
 * @throws WhetstoneError `upstream-invalid`, `upstream-missing`
 */
export function readUpstreams(flags: UpstreamFlags, environment: NodeJS.ProcessEnv = process.env): Upstreams {
  const baseUrls = new Map(flags.upstream.map((value) => readNamed('--upstream', value)));
  const variables = new Map(flags.keyEnv.map((value) => readNamed('--key-env', value)));
  const named = [...new Set([...baseUrls.keys(), ...variables.keys()])].map((provider) => {
    const baseUrl = baseUrls.get(provider);
    const env = variables.get(provider);
    return { provider, ...(baseUrl ? { baseUrl } : {}), ...(env ? { key: { env } } : {}) };
  });
  return chooseUpstreams(named, environment);
}

function readNamed(flag: string, value: string): [ProviderName, string] {
  const at = value.indexOf('=');
  const [name, rest] = at < 0 ? [value, ''] : [value.slice(0, at), value.slice(at + 1)];
  const where = `${flag} ${value}`;
  if (!isProvider(name)) {
    throw new WhetstoneError('upstream-invalid', `There is no provider "${name}".`, {
      where,
      hint: suggestion(name, Object.keys(providers), 'providers').replaceAll('\n', ' '),
    });
  }
  if (flag === '--key-env' && rest === '') {
    throw new WhetstoneError('upstream-invalid', 'The name of the variable is missing.', {
      where,
      hint: `For example: --key-env ${name}=MY_KEY`,
    });
  }
  return [name, rest];
}

const isProvider = (name: string): name is ProviderName => Object.hasOwn(providers, name);
