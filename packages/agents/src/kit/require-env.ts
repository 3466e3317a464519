import { WhetstoneError } from '@whetstone/errors';

/**
 * The value of an environment variable that an adapter cannot do without.
 * @throws WhetstoneError `env-missing` when it is not set, or empty.
 */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new WhetstoneError('env-missing', `The environment variable ${name} is not set.`, {
    where: name,
    hint: `Set it first, for example: export ${name}=…`,
  });
}
