import { z } from 'zod';
import { httpUrl, name, positiveCount, variableName } from '../kit/option-values.ts';
import { loopProfiles } from './loop-profiles.ts';

/** What a configuration can say about our own loop. */
export const loopOptions = z.object({
  profile: z.enum(loopProfiles).nullish(),
  model: name.nullish(),
  base_url: httpUrl.nullish(),
  api_key_env: variableName.nullish(),
  reasoning_effort: name.nullish(),
  max_tool_rounds: positiveCount.nullish(),
});
