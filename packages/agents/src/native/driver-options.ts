import { z } from 'zod';
import { httpUrl, name, safePath, variableName } from '../kit/option-values.ts';
import { permissionsOptions, policyOptions } from '../policy/policy-options.ts';

/** The options of an agent that Whetstone starts itself. */
export const driverOptions = z.object({
  agent: name.nullish(),
  model: name.nullish(),
  auth: z.enum(['api-key', 'login']).nullish(),
  base_url: httpUrl.nullish(),
  api_key_env: variableName.nullish(),
  version: name.nullish(),
  inherit: z.array(safePath).nullish(),
  permissions: permissionsOptions.nullish(),
  policy: policyOptions.nullish(),
  options: z.record(z.string(), z.json()).nullish(),
});
