import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { type ProviderName, providers, type Upstreams } from '@whetstone/gateway';
import { chooseUpstreams } from './choose-upstreams.ts';

/** The command line options that choose providers. */
export type UpstreamFlags = {
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
