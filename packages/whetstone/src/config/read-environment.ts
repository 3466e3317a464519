import type { z } from 'zod';
import { camelCased } from './camel-cased.ts';
import type { EnvironmentConfig } from './config.ts';
import type { environmentSchema } from './schema.ts';
import type { Spot } from './spot.ts';

const PREPARE_SECONDS = 900;

/** The `environment` of a config, with every default filled in. */
export function readEnvironment(
  { services, ...raw }: z.output<typeof environmentSchema>,
  spot: Spot,
): EnvironmentConfig {
  const environment = {
    timeoutSeconds: PREPARE_SECONDS,
    ...camelCased(raw),
    services: Object.entries(services ?? {}).map(([name, service]) => ({ name, ...service })),
  };
  if (environment.prepare.length === 0 && environment.services.length === 0) {
    const hint = 'for example prepare: [npm ci]';
    spot.error('an environment needs prepare or services', { hint, mark: 'key' });
  }
  const variables = new Map<string, string>();
  for (const { name } of environment.services) {
    const same = variables.get(name.toUpperCase());
    if (same !== undefined) {
      const message = `has the variables of ${same} (${name.toUpperCase()}_PORT)`;
      spot.at('services', name).error(message, { hint: 'rename one of them', mark: 'key' });
    }
    variables.set(name.toUpperCase(), name);
  }
  return environment;
}
