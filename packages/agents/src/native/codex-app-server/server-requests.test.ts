import type { JsonObject, StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { createPolicy } from '../../policy/decide.ts';
import { type Permissions, safePermissions } from '../../policy/permissions.ts';
import type { AskHuman, PolicyRule } from '../../policy/policy.ts';
import { answerRequest } from './server-requests.ts';

/** The answer to a request of Codex, and the decision behind it. */
async function answerTo(
  method: string,
  params: JsonObject,
  given: { rules?: PolicyRule[]; permissions?: Partial<Permissions>; ask?: AskHuman } = {},
) {
  const events: StreamEvent[] = [];
  const { rules = [], permissions, ask } = given;
  const decide = createPolicy({
    ...{ permissions: { ...safePermissions, ...permissions }, rules, workdir: process.cwd() },
    ...{ emit: (event: StreamEvent) => events.push(event), ...(ask && { ask }) },
  });
  const answer = await answerRequest(method, params, {
    decide,
    pathsOf: () => [],
    callOf: () => undefined,
  });
  const decided = events.flatMap((event) => (event.type === 'approval.decided' ? [event] : []));
  return { answer, decided };
}

const network = { network: { enabled: true }, fileSystem: null };
const files = (path: string) => ({ network: null, fileSystem: { read: null, write: [path] } });

test('what is granted is what was asked for, for this turn only, and by its own rule', async () => {
  const grant = (permissions: JsonObject, given = {}) =>
    answerTo('item/permissions/requestApproval', { itemId: 'a', permissions }, given);
  expect(await grant(network)).toMatchObject({ answer: { permissions: {}, scope: 'turn' } });
  expect(await grant(network, { permissions: { filesystem: 'full' } })).toMatchObject({
    answer: { permissions: {} },
    decided: [{ decision: 'denied', rule: 'permissions.network: off' }],
  });
  // A rule that names no host opens no network.
  expect(await grant(network, { rules: [{ allow: { kind: 'grant' } }] })).toMatchObject({
    answer: { permissions: {} },
  });
  expect(await grant(network, { rules: [{ allow: { kind: 'grant', host: '*' } }] })).toMatchObject({
    answer: { permissions: { network: { enabled: true } }, scope: 'turn' },
    decided: [{ decision: 'approved', by: 'policy', rule: 'allow {kind: "grant", host: "*"}' }],
  });
  const cache = { rules: [{ allow: { path: '/var/cache/**' } }] };
  expect(await grant(files('/var/cache/npm'), cache)).toMatchObject({
    answer: { permissions: { fileSystem: { write: ['/var/cache/npm'] } } },
  });
  expect(await grant(files('/etc'), cache)).toMatchObject({ answer: { permissions: {} } });
});

test('a question is answered by a human or with nothing, a form is filled in or declined', async () => {
  const questions = [{ id: 'q', question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }];
  const asked = { itemId: 'a', questions };
  const ask: AskHuman = async (request) => ({
    ...{ decision: 'approved', rule: 'answered by the test' },
    ...(request.kind === 'question' ? { answers: { q: ['b'] } } : { content: { name: 'tea' } }),
  });
  expect(await answerTo('item/tool/requestUserInput', asked, { ask })).toMatchObject({
    answer: { answers: { q: { answers: ['b'] } } },
    decided: [{ decision: 'approved', by: 'user' }],
  });
  expect(await answerTo('item/tool/requestUserInput', asked)).toMatchObject({
    answer: { answers: { q: { answers: [] } } },
    decided: [{ decision: 'denied', by: 'policy', rule: 'default' }],
  });
  const form = { serverName: 'tickets', message: 'Your name?', turnId: 't' };
  expect((await answerTo('mcpServer/elicitation/request', form, { ask })).answer).toMatchObject({
    action: 'accept',
    content: { name: 'tea' },
  });
  const rules = [{ allow: { kind: 'elicitation' } } as const];
  expect((await answerTo('mcpServer/elicitation/request', form, { rules })).answer).toMatchObject({
    action: 'accept',
    content: {},
  });
});

test('a dynamic tool has nobody who does it, also where a rule allows it, and the record has both', async () => {
  const call = { callId: 'a', tool: 'lookup', namespace: 'shop', arguments: { id: 1 } };
  const { answer, decided } = await answerTo('item/tool/call', call, {
    rules: [{ allow: { tool: 'shop.lookup' } }],
  });
  expect(answer).toMatchObject({ success: false });
  expect(decided).toMatchObject([{ decision: 'approved', rule: 'allow {tool: "shop.lookup"}' }]);
});

test.each(['__proto__', 'toString', 'thread/start', 'fs/writeFile', ''])(
  'a request %j, which Codex does not make, is an unknown method',
  async (method) => {
    await expect(answerTo(method, {})).rejects.toMatchObject({ code: -32601 });
  },
);

test.each([
  'item/commandExecution/requestApproval',
  'item/fileChange/requestApproval',
  'execCommandApproval',
  'applyPatchApproval',
])('%s without any of its fields is declined', async (method) => {
  const { answer, decided } = await answerTo(method, {});
  expect(JSON.stringify(answer)).toMatch(/decline|denied/);
  expect(decided).toMatchObject([{ decision: 'denied' }]);
});
