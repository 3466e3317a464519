import { WhetstoneError } from '@whetstone/errors';
import { learnSecret } from './learned-secrets.ts';

/**
 * Returns the value of an environment variable that an adapter needs. The value is a secret: it is masked in everything
 * that a run keeps.
 * @throws WhetstoneError `env-missing` if it is not set or empty.
 */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value) {
    learnSecret(value);
    return value;
  }
  throw new WhetstoneError('env-missing', `The environment variable ${name} is not set.`, {
    where: name,
    hint: `Set it first, for example: export ${name}=…`,
  });
}
