import { Client } from '@whetstone/loop';
import { expect, test } from 'vitest';
import { loopDefaults } from './loop-defaults.ts';
import { loopInstructions } from './loop-facts.ts';
import { loopProfiles } from './loop-profiles.ts';

test.each(loopProfiles)('the facts name the instruction files that the profile %s reads', (name) => {
  const { provider, model } = loopDefaults[name];
  const client = new Client({ providers: { [provider]: { apiKey: 'key' } } });
  const { profile } = client.resolve(`${provider}/${model}`);
  expect(profile.projectDocumentNames).toEqual(loopInstructions[name].map(({ path }) => path));
});
