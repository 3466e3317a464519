import { WhetstoneError } from '@whetstone/errors';

/**
 * Returns the value of an environment variable that an adapter needs.
 * @throws WhetstoneError `env-missing` if it is not set or empty.
 */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new WhetstoneError('env-missing', `The environment variable ${name} is not set.`, {
    where: name,
    hint: `Set it first, for example: export ${name}=…`,
  });
}
