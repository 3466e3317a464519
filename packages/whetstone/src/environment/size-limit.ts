import { WhetstoneError } from '@whetstone/errors';

/** How much the environments of this machine may hold together, in GB, unless the variable says something else. */
const DEFAULT_GB = 20;
const VARIABLE = 'WHETSTONE_ENVIRONMENTS_GB';

/** In bytes. @throws WhetstoneError `environment-limit-invalid` */
export function sizeLimit(environment: NodeJS.ProcessEnv): number {
  const text = environment[VARIABLE] ?? '';
  const gigabytes = text.trim() === '' ? DEFAULT_GB : Number(text);
  if (gigabytes > 0) return gigabytes * 1e9;
  throw new WhetstoneError(
    'environment-limit-invalid',
    `${VARIABLE} must be a number above 0, not ${JSON.stringify(text)}.`,
  );
}
