import { expect, test } from 'vitest';
import { says } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import type { Hooks } from '../control/hooks.ts';
import { Session } from '../session/session.ts';

const stamp = { id: 't', timestamp: '2026-01-01T00:00:00.000Z' };
const user = { ...stamp, kind: 'user', content: 'hi' };
const answer = { ...stamp, kind: 'assistant', provider: 'p', model: 'm', parts: [] as object[] };
const call = { type: 'tool-call', callId: 'a', name: 'shell', input: '{}' };
const result = { callId: 'a', name: 'shell', content: 'done', isError: false };

const malformed: [unknown, string][] = [
  [3, 'turns is 3; it must be a list of turns'],
  [[null], 'turns[0] is null; it must be a turn'],
  [[{ ...user, kind: 'human' }], 'turns[0].kind is "human"; it must be one of user, assistant'],
  [[{ kind: 'user', content: 'hi' }], 'turns[0].id is missing'],
  [[user, { ...user, content: 3 }], 'turns[1].content is 3'],
  [
    [{ ...user, content: [{ type: 'image', data: 'aGk=', mediaType: 'image/png' }] }],
    'turns[0].content[0].data begins',
  ],
  [[{ ...user, content: [{ type: 'file' }] }], 'turns[0].content[0].type is "file"'],
  [[{ ...user, content: 'half \ud83d' }], 'turns[0].content has half of a character'],
  [[{ ...user, kind: 'system', content: [] }], 'turns[0].content is a list; it must be a text'],
  [[{ ...answer, parts: 'done' }], 'turns[0].parts is "done"; it must be a list'],
  [[{ ...answer, parts: [{ type: 'text' }] }], 'turns[0].parts[0].text is missing'],
  [
    [{ ...answer, parts: [{ type: 'thought', text: 'x' }] }],
    'turns[0].parts[0].type is "thought"; it must be one of text,',
  ],
  [
    [{ ...answer, parts: [{ ...call, input: {} }] }],
    'turns[0].parts[0].input is an object; it must be a text',
  ],
  [[{ ...answer, parts: [{ ...call, callId: '' }] }], 'turns[0].parts[0].callId is empty'],
  [[{ ...answer, parts: [call, call] }], 'turns[0].parts[1].callId is "a", as that of a call before it'],
  [
    [{ ...answer, parts: [{ type: 'custom', kind: 'compaction' }] }],
    'turns[0].parts[0].kind is "compaction"',
  ],
  [[{ ...answer, model: undefined }], 'turns[0].model is missing'],
  [
    [{ ...stamp, kind: 'tool_results', results: [{ ...result, content: {} }] }],
    'turns[0].results[0].content is an object',
  ],
  [
    [{ ...stamp, kind: 'tool_results', results: [{ ...result, isError: 'no' }] }],
    'turns[0].results[0].isError is "no"',
  ],
];

test.each(malformed)('malformed turns never enter a history: %j', async (turns, message) => {
  await using run = await startSession([says('ok')]);
  const { profile, model, place } = run;
  const restoring = () =>
    Session.restore({ version: 1, id: 'x', turns }, { profile, model, environment: place.environment });
  expect(restoring).toThrow(Array.isArray(turns) ? message : /`turns` is missing/);
  const replacing = () => run.session.replaceHistory(turns as never);
  expect(replacing).toThrow(TypeError);
  expect(replacing).toThrow(`replaceHistory: ${message}`);
  expect(run.session.history).toEqual([]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
});

test.each([
  [{ steering: [[{ type: 'text' }]] }, 'steering[0][0].text is missing'],
  [{ followUps: ['fine', 3] }, 'followUps[1] is 3'],
  [{ parked: { results: [{ ...result, name: 3 }], waiting: [], rounds: 0 } }, 'parked.results[0].name is 3'],
])('a malformed message that waits in a snapshot is refused: %j', async (waiting, message) => {
  await using run = await startSession([]);
  const { profile, model, place } = run;
  const snapshot = { version: 1, id: 'x', turns: [], ...waiting };
  expect(() => Session.restore(snapshot, { profile, model, environment: place.environment })).toThrow(
    message,
  );
});

test('well-formed turns of every kind are taken', async () => {
  await using run = await startSession([says('ok')]);
  run.session.replaceHistory([
    { ...user, content: [{ type: 'text', text: 'hi' }] },
    { ...answer, parts: [{ type: 'reasoning', text: '' }, { type: 'text', text: 'I look.' }, call] },
    { ...stamp, kind: 'tool_results', results: [result] },
    { ...stamp, kind: 'system', content: 'note' },
    { ...stamp, kind: 'steering', content: 'faster' },
  ] as Parameters<typeof run.session.replaceHistory>[0]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
});

test.each<[string, object, string]>([
  [
    'beforeSubmit',
    { beforeSubmit: () => ({ input: [{ type: 'image' }] }) },
    'beforeSubmit: input[0].mediaType is missing',
  ],
  ['beforeSubmit without an input', { beforeSubmit: () => ({}) }, 'beforeSubmit: input is missing'],
])('a hook that gives a malformed input blocks it: %s', async (_, hooks, message) => {
  await using run = await startSession([], { hooks: hooks as Hooks });
  const ended = await run.session.submit('go');
  expect(ended).toMatchObject({ reason: 'blocked', error: { message: expect.stringContaining(message) } });
  expect(run.session.history).toEqual([]);
});

test('a hook that goes on with a malformed message is reported, and the input ends', async () => {
  const hooks = { beforeStop: () => ({ continueWith: [{ type: 'text' }] }) } as unknown as Hooks;
  await using run = await startSession([says('ok')], { hooks });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  expect(run.of('ERROR').map(({ data }) => data)).toEqual([
    expect.objectContaining({
      code: 'hook-failed',
      message: expect.stringContaining('input[0].text is missing'),
    }),
  ]);
  expect(run.session.history.map(({ kind }) => kind)).toEqual(['user', 'assistant']);
});
