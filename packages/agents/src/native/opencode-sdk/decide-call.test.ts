import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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

let root: string;
let workdir: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'decide-'));
  workdir = join(root, 'package');
  await mkdir(workdir);
});
afterAll(() => rm(root, { recursive: true }));

/** OpenCode names the paths of a package relative to the root of its repository. */
async function ask(
  permission: string,
  about: JsonObject = {},
  given: { permissions?: Partial<Permissions>; rules?: PolicyRule[] } = {},
) {
  const events: StreamEvent[] = [];
  const decide = createPolicy({
    permissions: { ...safePermissions, ...given.permissions },
    rules: given.rules ?? [],
    servers: ['glossary'],
    workdir,
    emit: (event) => events.push(event),
  });
  const turn = {
    decide,
    workingDirectory: workdir,
    connection: { ...connection, mcpServers: [{ name: 'glossary' }] },
  };
  const question = {
    type: 'sdk.ask',
    id: 1,
    callId: 'call-1',
    permission,
    root,
    patterns: [],
    metadata: {},
    ...about,
  };
  const answer = await decideCall(question, turn as unknown as DialogueTurn);
  return { answer, rule: events.flatMap((event) => ('rule' in event ? event.rule : []))[0] };
}

test.each<[string, JsonObject, string]>([
  ['read', { patterns: ['package/README.md'] }, 'permissions.filesystem: workspace'],
  ['edit', { patterns: ['package/new.txt'] }, 'permissions.filesystem: workspace'],
  ['glob', { metadata: { pattern: '*' } }, 'permissions.filesystem: workspace'],
  ['glossary_find', { patterns: ['*'] }, 'mcp_servers.glossary'],
])('%s %j is approved', async (permission, about, rule) => {
  expect(await ask(permission, about)).toEqual({ answer: { reply: 'once' }, rule });
});

test.each<[string, JsonObject, string]>([
  ['read', { patterns: ['README.md'] }, 'permissions.filesystem: workspace'],
  ['edit', { patterns: ['package/../x'] }, 'permissions.filesystem: workspace (outside it)'],
  [
    'edit',
    { patterns: ['package/a'], metadata: { files: [{ movePath: '/etc/a' }] } },
    'permissions.filesystem: workspace (outside it)',
  ],
  ['grep', { metadata: { pattern: 'x', path: '..' } }, 'permissions.filesystem: workspace'],
  ['bash', { metadata: { command: 'ls' } }, 'permissions.shell: ask'],
  ['webfetch', { metadata: { url: 'https://example.com/x' } }, 'permissions.network: off'],
  ['other_find', {}, 'default'],
])('%s %j is refused, with the rule', async (permission, about, rule) => {
  const message = `This is not allowed here (${rule}).`;
  expect(await ask(permission, about)).toEqual({ answer: { reply: 'reject', message }, rule });
});

test('a command runs in the folder that its call names', async () => {
  const rules: PolicyRule[] = [{ allow: { command: 'touch *' } }];
  const about = { metadata: { command: 'touch new.txt > log.txt' }, input: { workdir: root } };
  expect(await ask('bash', about, { rules })).toMatchObject({ answer: { reply: 'reject' } });
  expect(await ask('bash', { ...about, input: {} }, { rules })).toMatchObject({ answer: { reply: 'once' } });
});

test('a question gets no answer, and the turn goes on', async () => {
  const questions = [{ question: 'Which?', options: [{ label: 'A' }] }];
  expect(await ask('question', { questions })).toEqual({ answer: { answers: [[]] }, rule: 'default' });
});
