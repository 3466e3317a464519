import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import type { Exposure } from '../record/exposure-schema.ts';
import type { CaseResult } from './case-results.ts';
import { aboutTheContext } from './context-caveats.ts';

const first = { event_index: 0, at: null, call_id: 'c' };
const used: Exposure = {
  instructions: { path: 'AGENTS.md', in_requests: 'whole', first_call: 'm', read: null, tokens_estimate: 1 },
  skills: [{ name: 'tea', listed: true, triggered: 'confirmed', first, tokens_estimate: 1 }],
  mcp_servers: [{ name: 'words', offered: true, calls: 2, failures: 0, first, tokens_estimate: 1 }],
  plugins: [{ name: 'house', version: null, loaded: true, skills: [] }],
};
const unused: Exposure = {
  instructions: { path: 'AGENTS.md', in_requests: 'no', first_call: null, read: null, tokens_estimate: 1 },
  skills: [{ name: 'tea', listed: true, triggered: 'attempted', first, tokens_estimate: null }],
  mcp_servers: [{ name: 'words', offered: false, calls: 0, failures: 0, first: null, tokens_estimate: 0 }],
  plugins: [{ name: 'house', version: null, loaded: false, skills: [] }],
};

function cases(exposures: readonly (Exposure | undefined)[], variant = 'with'): CaseResult[] {
  return exposures.map((exposure) => {
    const row = { variant, agent_name: 'loop', ...present({ exposure }) };
    return { row } as CaseResult;
  });
}

test('there is no caveat for what every case used, or for a case without a result or a declaration', () => {
  expect(aboutTheContext([...cases([used, used, undefined]), { row: null } as CaseResult])).toEqual([]);
});

test('parts of the context that some cases did not use are counted, per variant and agent', () => {
  expect(aboutTheContext([...cases([used, unused, unused]), ...cases([used], 'other')])).toEqual([
    'The model saw the instructions of the variant with (agent loop) in 1 of 3 cases.',
    'The skill tea of the variant with (agent loop) was triggered in 1 of 3 cases.',
    'The MCP server words of the variant with (agent loop) was called in 1 of 3 cases, and was not offered in 2.',
    'The plugin house of the variant with (agent loop) was loaded in 1 of 3 cases.',
  ]);
});

test('without a gateway, a read shows that instructions were seen, and nothing shows that they were not', () => {
  const blind = (read: Exposure['instructions'] & object): Exposure => ({
    instructions: { ...read, in_requests: null, first_call: null },
    skills: [],
    mcp_servers: [],
    plugins: [],
  });
  const { instructions } = used;
  if (!instructions) throw new Error('the fixture has instructions');
  expect(aboutTheContext(cases([blind({ ...instructions, read: first })]))).toEqual([]);
  expect(aboutTheContext(cases([blind(instructions)]))).toEqual([
    'It is unknown whether a model saw the instructions of the variant with (agent loop): no gateway saw its requests, and no event shows that they were read.',
  ]);
});

test('a plugin that no event and no request shows is unknown', () => {
  const [plugin] = used.plugins;
  if (!plugin) throw new Error('the fixture has a plugin');
  const silent = { ...used, plugins: [{ ...plugin, loaded: null }] };
  expect(aboutTheContext(cases([silent, silent]))).toEqual([
    'It is unknown whether the plugin house of the variant with (agent loop) was loaded: neither an event nor a model request shows it.',
  ]);
});
