import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type KeySource, type Provider, providers, type Upstreams } from '@whetstone/gateway';
import type { UpstreamConfig } from '../config/config.ts';

/**
 * Chooses the providers that calls of each wire go to: those that are named, else every provider whose key is in its
 * usual variable. A named provider without a key also uses that variable.
 * @throws WhetstoneError `upstream-missing`
 */
export function chooseUpstreams(
  named: readonly UpstreamConfig[],
  environment: NodeJS.ProcessEnv = process.env,
): Upstreams {
  const known: [string, Provider][] = Object.entries(providers);
  const hasKey = ({ keyVariables }: Provider) => keyVariables.some((variable) => environment[variable]);
  const chosen = known.filter(([name, provider]) =>
    named.length > 0 ? named.some((upstream) => upstream.provider === name) : hasKey(provider),
  );
  if (chosen.length === 0) throw noneChosen(known);
  return Object.fromEntries(
    chosen.flatMap(([name, { wires, keyVariables: usual }]) => {
      const { baseUrl, key: ownKey } = named.find(({ provider }) => provider === name) ?? {};
      const variable = usual.find((candidate) => environment[candidate]) ?? usual[0] ?? '';
      const key: KeySource = ownKey ?? { env: variable };
      return wires.map((wire) => [wire, { ...present({ baseUrl }), key }]);
    }),
  );
}

function noneChosen(known: readonly [string, Provider][]): WhetstoneError {
  const variables = known.flatMap(([, { keyVariables }]) => keyVariables.slice(0, 1));
  return new WhetstoneError('upstream-missing', 'No provider is named, and no key of one is set.', {
    hint: `Set one of ${variables.join(', ')}, or name a provider and the source of its key.`,
  });
}
