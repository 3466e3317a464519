import type { DeclaredContext, DeclaredPlugin } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { watchRequests } from './watch-requests.ts';

const skill = (name: string, description: string) => ({ name, description, text: '', files: [] });
const server = (name: string) => ({ kind: 'command' as const, name, command: 'x', args: [], env: {} });
const nothing: DeclaredContext = { skills: [], mcpServers: [], plugins: [], secrets: [] };

let calls = 0;
const request = (body: unknown) => ({
  id: `call-${calls++}`,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

function sightOf(declared: Partial<DeclaredContext>, ...bodies: unknown[]) {
  const { sight, onRequest } = watchRequests({ ...nothing, ...declared });
  for (const body of bodies) onRequest(request(body));
  return sight;
}

test('instructions are found in any place, indented and wrapped in any way', () => {
  const instructions = '# Rules\n\n- Say "please".\n- Use\ttabs.\n';
  const body = {
    messages: [{ content: [{ text: `<x>\n  # Rules\n    - Say "please".\r\n    - Use tabs.\n</x>` }] }],
  };
  expect(sightOf({ instructions }, body).instructions).toMatchObject({ extent: 'whole' });
  expect(sightOf({ instructions }, { system: 'So say "please".' }).instructions).toBeUndefined();
});

test('the longest line shows a text that was cut, and the whole text in a later request counts more', () => {
  const instructions = 'One.\nThe longest line of them all.\nThree.';
  const part = { system: 'Read: The longest line of them all.' };
  expect(sightOf({ instructions }, part).instructions?.extent).toBe('part');
  expect(sightOf({ instructions }, part, { system: instructions }).instructions?.extent).toBe('whole');
});

test('a skill is listed by name and description, cut or in XML', () => {
  const tea = skill('brew-tea', `Tea & biscuits: ${'how to brew it, '.repeat(20)}`);
  const listed = (text: string) => sightOf({ skills: [tea] }, { system: text }).skills.has('brew-tea');
  expect(
    listed(`<name>brew-tea</name><description>Tea &amp; biscuits: ${'how to brew it, '.repeat(4)}…`),
  ).toBe(true);
  expect(listed('brew-tea is a word of the task')).toBe(false);
  expect(listed(`another-skill: ${tea.description}`)).toBe(false);
});

test.each<[offer: string, body: unknown]>([
  ['a tool with two underscores', { tools: [{ name: 'mcp__my-words__lookup' }] }],
  ['a tool with one', { tools: [{ name: 'mcp_my_words_lookup' }] }],
  ['a plain tool', { tools: [{ function: { name: 'my-words_lookup' } }] }],
  ['a tool with a dash', { tools: [{ function: { name: 'my-words-lookup' } }] }],
  ['a namespace', { tools: [{ type: 'namespace', name: 'mcp__my_words' }] }],
  ['a tool that is named in a text', { system: 'Deferred tools:\n- mcp__my-words__lookup' }],
])('a server is offered by %s', (_, body) => {
  const sight = sightOf({ mcpServers: [server('my-words'), server('words')] }, body);
  expect([...sight.mcpServers.keys()]).toEqual(['my-words']);
});

test('another tool, or a text about the server, is not an offer', () => {
  const body = { system: 'my-words is a server, see mcp__my-wordsmith__x', tools: [{ name: 'my-words' }] };
  expect(sightOf({ mcpServers: [server('my-words')] }, body).mcpServers.size).toBe(0);
});

const plugin: DeclaredPlugin = {
  name: 'tea-house',
  files: [],
  skills: [{ name: 'pour-tea', description: 'How tea is poured.', text: '' }],
  mcpServers: ['cups'],
  context: ['# House\n\nGuests come first, whoever they are.\n'],
};

test.each<[trace: string, body: unknown]>([
  ['a skill', { system: '- tea-house:pour-tea: How tea is poured. (file: r1/x)' }],
  ['a tool', { tools: [{ name: 'mcp__cups__count' }] }],
  ['a tool with its own name before it', { tools: [{ name: 'mcp__plugin_tea-house_cups__count' }] }],
  ['a text', { system: '<context>Guests come first, whoever they are.</context>' }],
])('of a plugin %s reports', (_, body) => {
  expect([...sightOf({ plugins: [plugin] }, body).plugins.keys()]).toEqual(['tea-house']);
});

test('neither its name nor a server that the variant declares shows a plugin', () => {
  const body = { system: 'Serve as in the tea-house.', tools: [{ name: 'mcp__cups__count' }] };
  const sight = sightOf({ plugins: [plugin], mcpServers: [server('cups')] }, body);
  expect([...sight.plugins.keys()]).toEqual([]);
  expect([...sight.mcpServers.keys()]).toEqual(['cups']);
});

test('the first call with each thing is kept, and nothing more is read once everything was seen', () => {
  const { sight, onRequest } = watchRequests({ ...nothing, instructions: 'Be kind.' });
  const first = request({ system: 'hello', tools: [{ name: 'bash' }] });
  const second = request({ system: 'Be kind.' });
  for (const one of [first, second, request({ system: 'Be kind.' })]) onRequest(one);
  expect(sight).toMatchObject({ requests: 2, instructions: { extent: 'whole', call: second.id } });
});

test('the first request is the first one that offers tools, if any does', () => {
  const { sight, onRequest } = watchRequests(nothing);
  const [title, main, later] = [{}, { tools: [{ name: 'bash' }] }, { tools: [{ name: 'read' }] }].map(
    (body) => request({ system: 'Hello  there.', ...body }),
  );
  for (const one of [title, main, later]) if (one) onRequest(one);
  expect(sight.first).toMatchObject({ call: main?.id, text: 'Hello there. bash' });
});

test('a body that is not JSON does not count as seen', () => {
  expect(sightOf({ instructions: 'Be kind.' }, 'Be kind.').requests).toBe(0);
});
