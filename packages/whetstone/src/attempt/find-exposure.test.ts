import type { DeclaredContext } from '@whetstone/agents';
import type { JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { findExposure } from './find-exposure.ts';
import type { RequestSight } from './watch-requests.ts';

const SKILL = '---\nname: brew-tea\ndescription: How tea is brewed.\n---\n# Tea\nBoil water to 96 degrees.\n';
const declared: DeclaredContext = {
  instructions: '# Rules\nWarm every cup before use.\n',
  skills: [{ name: 'brew-tea', description: 'How tea is brewed.', text: SKILL, files: [] }],
  mcpServers: [
    { kind: 'command', name: 'glossary', command: 'x', args: [], env: {} },
    { kind: 'http', name: 'glossary_old', url: 'https://example.com', headers: {} },
  ],
  plugins: [
    {
      name: 'tea-house',
      version: '1.2.0',
      files: [],
      skills: [{ name: 'pour-tea', description: 'How tea is poured.', text: '---\n---\nPour slowly.\n' }],
      mcpServers: [],
      context: [],
    },
  ],
  secrets: [],
};

type Status = 'completed' | 'failed' | 'rejected';
let calls = 0;
const AT = '2026-11-22T10:00:00.000Z';
function call(
  name: string,
  input: JsonValue,
  output?: JsonValue,
  status: Status = 'completed',
): StreamEvent[] {
  const callId = `c${calls++}`;
  return [
    { type: 'action.called', callId, name, input, at: AT },
    { type: 'action.result', callId, status, ...present({ output }) },
  ];
}

function exposureOf(events: readonly StreamEvent[], sight?: RequestSight) {
  const exposure = findExposure(declared, events, { sight, instructionsPath: 'AGENTS.md' });
  if (!exposure) throw new Error('nothing is declared');
  return exposure;
}
const skillOf = (events: readonly StreamEvent[]) => exposureOf(events).skills[0];

test('a variant that declares nothing has no exposure', () => {
  const nothing = { skills: [], mcpServers: [], plugins: [], secrets: [] };
  expect(findExposure(nothing, [], { sight: undefined, instructionsPath: 'AGENTS.md' })).toBeUndefined();
});

test('without events and without a gateway nothing was used, and what only the wire shows is unknown', () => {
  expect(exposureOf([])).toEqual({
    instructions: { path: 'AGENTS.md', in_requests: null, first_call: null, read: null, tokens_estimate: 9 },
    skills: [{ name: 'brew-tea', listed: null, triggered: 'no', first: null, tokens_estimate: null }],
    mcp_servers: ['glossary', 'glossary_old'].map((name) => ({
      name,
      offered: null,
      calls: 0,
      failures: 0,
      first: null,
      tokens_estimate: 0,
    })),
    plugins: [
      {
        name: 'tea-house',
        version: '1.2.0',
        loaded: null,
        skills: [{ name: 'pour-tea', listed: null, triggered: 'no', first: null, tokens_estimate: null }],
      },
    ],
  });
});

test('the requests that the gateway saw are reported, and without one everything is unknown', () => {
  const sight: RequestSight = {
    requests: 1,
    skills: new Map([['brew-tea', 'm1']]),
    mcpServers: new Map(),
    plugins: new Map(),
  };
  const seen = exposureOf([], { ...sight, instructions: { extent: 'part', call: 'm1' } });
  expect(seen.instructions).toMatchObject({ in_requests: 'part', first_call: 'm1' });
  expect(seen.skills[0]?.listed).toBe(true);
  expect(seen.mcp_servers[0]?.offered).toBe(false);
  expect(exposureOf([], sight).instructions?.in_requests).toBe('no');
  expect(exposureOf([], { ...sight, requests: 0 }).instructions?.in_requests).toBeNull();
});

test.each<[how: string, events: StreamEvent[], tokens: number]>([
  [
    'its tool, which answers with the text',
    call('load_skill', { skill: 'brew-tea' }, SKILL),
    SKILL.length / 4,
  ],
  [
    'its tool, and the text by another way',
    call('load_skill', { skill: 'brew-tea' }, 'Launching'),
    SKILL.length / 4,
  ],
  [
    'the name of a plugin before its own',
    call('load_skill', { skill: 'office:brew-tea' }, {}),
    SKILL.length / 4,
  ],
  ['a read of its file', call('read_file', { path: '/h/.x/skills/brew-tea/SKILL.md' }), SKILL.length / 4],
  [
    'a glob, seen by the text',
    call('bash', { command: 'cat s/*/S*' }, { stdout: 'Boil water to 96 degrees.' }),
    7,
  ],
  [
    'a shell that failed after it',
    call('bash', { command: 'cat a b' }, 'Boil water to 96 degrees.', 'failed'),
    7,
  ],
])('a skill is triggered by %s', (_, events, tokens) => {
  const callId = events[0]?.type === 'action.called' ? events[0].callId : '';
  expect(skillOf([{ type: 'session.started' }, ...events])).toEqual({
    name: 'brew-tea',
    listed: null,
    triggered: 'confirmed',
    first: { event_index: 1, at: AT, call_id: callId },
    tokens_estimate: Math.ceil(tokens),
  });
});

test('a skill that an adapter reports as loaded is confirmed, without a call to show', () => {
  const events: StreamEvent[] = [{ type: 'skill.loaded', skill: 'tea-house:brew-tea' }];
  expect(skillOf(events)).toMatchObject({ triggered: 'confirmed', first: null });
  expect(skillOf([{ type: 'skill.loaded', skill: 'pour-tea' }])).toMatchObject({ triggered: 'no' });
});

test.each<[how: string, events: StreamEvent[]]>([
  ['refused', call('load_skill', { skill: 'brew-tea' }, 'No.', 'rejected')],
  ['never answered', call('load_skill', { skill: 'brew-tea' }).slice(0, 1)],
  ['a shell command that failed', call('bash', { command: 'cat brew-tea/SKILL.md' }, { exitCode: 1 })],
])('asked for in vain is attempted: %s', (_, events) => {
  expect(skillOf(events)).toMatchObject({ triggered: 'attempted', tokens_estimate: null });
});

test.each<[what: string, events: StreamEvent[]]>([
  ['another skill', call('load_skill', { skill: 'brew-tea-fast' }, 'x')],
  ['its front matter in a search', call('grep', { pattern: 'tea' }, 'description: How tea is brewed.')],
  ['a file of another folder', call('read', { path: 'no-brew-tea/SKILL.md' }, 'x')],
  ['its path in a text that is written', call('write', { path: 'notes', content: 'brew-tea/SKILL.md' })],
])('is not triggered by %s', (_, events) => {
  expect(skillOf(events)).toMatchObject({ triggered: 'no', first: null });
});

test('instructions are read when a result holds them, or when a call that reads their file has an empty result', () => {
  const readOf = (events: StreamEvent[]) => exposureOf(events).instructions?.read;
  expect(readOf(call('bash', { command: 'cat *.md' }, 'Warm every cup before use.'))).toMatchObject({
    event_index: 0,
  });
  expect(readOf(call('read', { path: '/w/AGENTS.md' }))).toMatchObject({ event_index: 0 });
  expect(readOf(call('read', { path: 'AGENTS.md' }, 'something else'))).toBeNull();
  expect(readOf(call('read', { path: 'OLD-AGENTS.md' }))).toBeNull();
});

test('calls are counted for their server in every spelling', () => {
  const events = [
    ...call('mcp__glossary__lookup', {}, 'twelve chars'),
    ...call('glossary_lookup', {}, { content: [{ text: 'and sixteen more' }] }),
    ...call('glossary-lookup', {}, 'no', 'failed'),
    ...call('mcp__glossary_old__lookup', {}),
    ...call('mcp__glossary__lookup', {}).slice(0, 1),
    ...call('lookup', {}),
  ];
  expect(exposureOf(events).mcp_servers).toMatchObject([
    { name: 'glossary', calls: 4, failures: 1, first: { event_index: 0, at: AT }, tokens_estimate: 8 },
    { name: 'glossary_old', calls: 1, failures: 0, tokens_estimate: 0 },
  ]);
});

test('a plugin was loaded when its agent reports it or a request shows it', () => {
  const maps = { mcpServers: new Map<string, string>(), plugins: new Map([['tea-house', 'm1']]) };
  const sight: RequestSight = { requests: 1, skills: new Map([['tea-house:pour-tea', 'm1']]), ...maps };
  const pluginOf = (events: StreamEvent[], seen?: RequestSight) => exposureOf(events, seen).plugins[0];
  expect(pluginOf([], sight)).toMatchObject({ loaded: true, skills: [{ listed: true }] });
  expect(pluginOf([], { ...sight, skills: new Map(), plugins: new Map() })).toMatchObject({
    loaded: false,
    skills: [{ listed: false }],
  });
  expect(pluginOf([{ type: 'session.started', plugins: ['tea-house'] }])?.loaded).toBe(true);
  expect(pluginOf([{ type: 'session.started', plugins: ['another'] }])?.loaded).toBeNull();
  const used = pluginOf(call('load_skill', { skill: 'tea-house:pour-tea' }, 'Pour slowly.'));
  expect(used?.skills[0]).toMatchObject({ triggered: 'confirmed', tokens_estimate: 3 });
});

test('requests show nothing about a plugin that has nothing for a model to see', () => {
  const [plugin] = declared.plugins;
  if (!plugin) throw new Error('the fixture has a plugin');
  const sight = { requests: 1, skills: new Map(), mcpServers: new Map(), plugins: new Map() };
  const silent = { ...declared, plugins: [{ ...plugin, skills: [] }] };
  const exposure = findExposure(silent, [], { sight, instructionsPath: 'AGENTS.md' });
  expect(exposure?.plugins[0]?.loaded).toBeNull();
});
