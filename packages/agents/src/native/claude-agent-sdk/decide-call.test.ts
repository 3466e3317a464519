import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, StreamEvent } from '@whetstone/events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPolicy } from '../../policy/decide.ts';
import { type Permissions, safePermissions } from '../../policy/permissions.ts';
import type { PolicyRule } from '../../policy/policy.ts';
import { connection } from '../__fixtures__/connection.ts';
import type { DialogueTurn } from '../native-agent.ts';
import { decideCall } from './decide-call.ts';

let folder: string;
let workspace: string;
let home: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decide-'));
  workspace = join(folder, 'workspace');
  home = join(folder, 'home');
  for (const made of [workspace, join(home, '.claude/skills/tea'), join(folder, 'other')]) {
    await mkdir(made, { recursive: true });
  }
  await writeFile(join(workspace, 'README.md'), '');
  await symlink(join(folder, 'other'), join(workspace, 'link'));
});
afterAll(() => rm(folder, { recursive: true }));

async function ask(
  tool: string,
  input: JsonObject,
  given: { permissions?: Partial<Permissions>; rules?: PolicyRule[] } = {},
) {
  const events: StreamEvent[] = [];
  const permissions = { ...safePermissions, ...given.permissions };
  const decide = createPolicy({
    permissions,
    rules: given.rules ?? [],
    servers: ['glossary'],
    workdir: workspace,
    emit: (event) => events.push(event),
  });
  const turn = {
    decide,
    workingDirectory: workspace,
    connection: { ...connection, home, plugins: [{ name: 'tea', folder: join(home, 'tea') }] },
  };
  const free = [join(home, '.claude/skills')];
  const question = { type: 'sdk.ask', id: 1, callId: 'call-1', tool, input };
  const answer = await decideCall(question, free, turn as unknown as DialogueTurn);
  return { answer, rule: events.flatMap((event) => ('rule' in event ? event.rule : []))[0] };
}

const OUTSIDE = 'permissions.filesystem: workspace';

test.each<[string, string, JsonObject, string | undefined]>([
  ['reads in the workspace', 'Read', { file_path: 'README.md' }, OUTSIDE],
  ['searches the workspace by default', 'Grep', { pattern: 'x' }, OUTSIDE],
  ['lists the workspace by a pattern', 'Glob', { pattern: '**/*.ts' }, OUTSIDE],
  ['writes in the workspace', 'Write', { file_path: 'new/file.txt', content: '' }, OUTSIDE],
  ['reads a skill in its home', 'Read', { file_path: '~/.claude/skills/tea/SKILL.md' }, undefined],
  ['uses a server of the variant', 'mcp__glossary__find', {}, 'mcp_servers.glossary'],
  ['uses a server of a plugin', 'mcp__plugin_tea_glossary__find', {}, 'mcp_servers.glossary'],
  ['delegates', 'Agent', { prompt: 'x' }, undefined],
])('%s', async (_, tool, input, rule) => {
  expect(await ask(tool, input)).toEqual({ answer: { behavior: 'allow' }, rule });
});

test.each<[string, string, JsonObject]>([
  ['reads outside', 'Read', { file_path: '/etc/hostname' }],
  ['reads above', 'Read', { file_path: '../other/x' }],
  ['reads through a link', 'Read', { file_path: 'link/x' }],
  ['reads its login', 'Read', { file_path: '~/.claude/.credentials.json' }],
  ['searches outside', 'Grep', { pattern: 'x', path: '/etc' }],
  ['lists outside by its folder', 'Glob', { pattern: '*', path: '..' }],
  ['lists outside by its pattern', 'Glob', { pattern: '/etc/**' }],
  ['lists above by its pattern', 'Glob', { pattern: '../*' }],
  ['lists its home by its pattern', 'Glob', { pattern: '~/.claude/*' }],
  ['lists through a link', 'Glob', { pattern: 'link/*' }],
  ['writes outside', 'Write', { file_path: '/etc/made.txt' }],
  ['edits a notebook through a link', 'NotebookEdit', { notebook_path: 'link/x.ipynb' }],
  ['runs a command', 'Bash', { command: 'ls' }],
  ['watches a command', 'Monitor', { command: 'ls' }],
  ['fetches', 'WebFetch', { url: 'https://example.com/x' }],
  ['uses another server', 'mcp__other__find', {}],
  ['uses a tool that nobody knows', 'Teleport', {}],
  ['asks a question', 'AskUserQuestion', { questions: [{ question: 'Which?', options: [] }] }],
])('an agent that %s is refused', async (_, tool, input) => {
  const { answer, rule } = await ask(tool, input);
  expect(answer).toEqual({ behavior: 'deny', message: expect.stringContaining(rule ?? 'no rule') });
});

test('rules accept what the permissions do not, and refuse what they do', async () => {
  const fetching = { url: 'https://example.com:8443/x' };
  expect(await ask('WebFetch', fetching, { permissions: { network: 'open' } })).toMatchObject({
    answer: { behavior: 'allow' },
    rule: 'permissions.network: open',
  });
  expect(
    await ask('Read', { file_path: 'README.md' }, { rules: [{ deny: { path: '*.md' } }] }),
  ).toMatchObject({ answer: { behavior: 'deny' }, rule: 'deny {path: "*.md"}' });
  expect(await ask('mcp__glossary__find', {}, { rules: [{ deny: { tool: 'mcp__*' } }] })).toMatchObject({
    answer: { behavior: 'deny' },
  });
});
