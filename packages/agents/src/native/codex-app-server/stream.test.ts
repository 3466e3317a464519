import { deriveAgentMetadata, type JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { linesOf, recordingsOf } from '../__fixtures__/recordings.ts';
import { completed, item } from './__fixtures__/scripted-server.ts';
import { isCallType } from './items.ts';
import { AppServerStream } from './stream.ts';

const recorded = recordingsOf('codex-app-server');
const opened: JsonObject = {
  id: 2,
  result: {
    thread: { id: 'thread-1', cliVersion: '0.169.0' },
    model: 'gpt-5.5',
    cwd: '/workspace',
    sandbox: { type: 'readOnly', networkAccess: false },
    approvalPolicy: 'untrusted',
  },
};
const began: JsonObject = {
  method: 'turn/started',
  params: { threadId: 'thread-1', turn: { id: 'turn-1' } },
};
const tokens = (total: number, threadId = 'thread-1'): JsonObject => {
  const counts = { totalTokens: total * 2, inputTokens: total, cachedInputTokens: 0, outputTokens: total };
  return {
    method: 'thread/tokenUsage/updated',
    params: { threadId, tokenUsage: { total: counts, last: { ...counts, inputTokens: 1 } } },
  };
};
const read = (lines: readonly JsonObject[], before?: AppServerStream | 'unread') => {
  const mapper = new AppServerStream({ workdir: '/workspace' }, before);
  return { mapper, ...readNative(mapper, linesOf(...lines)) };
};

test('the usage of a turn is the growth of the thread, over all its model calls', () => {
  const { mapper, summary, events } = read([
    opened,
    began,
    tokens(100),
    tokens(100),
    tokens(250),
    tokens(900, 'child'),
    completed('turn-1'),
  ]);
  expect(summary.usage).toMatchObject({ inputTokens: 250, outputTokens: 250 });
  expect(deriveAgentMetadata(events).modelCalls).toBe(2);
  const next = read([opened, began, tokens(300), completed('turn-1')], mapper);
  expect(next.summary.usage).toMatchObject({ inputTokens: 50 });
  // Another process began the thread: its count is known if it is repeated before the turn, else nothing is.
  expect(
    read([opened, tokens(250), began, tokens(300), completed('turn-1')], 'unread').summary.usage,
  ).toMatchObject({ inputTokens: 50 });
  expect(read([opened, began, tokens(300), completed('turn-1')], 'unread').summary.usage).toBeUndefined();
});

test('only a completed turn is a success', () => {
  const of = (status: string) => read([opened, began, completed('turn-1', 'thread-1', status)]).summary;
  expect(of('completed')).toMatchObject({ ending: 'completed' });
  expect(of('interrupted')).toMatchObject({ ending: 'failed', failure: 'The turn was interrupted.' });
  expect(of('failed').ending).toBe('failed');
  expect(read([opened, began]).summary.ending).toBeUndefined();
  // The end of a sub-agent's turn is not that of the turn.
  expect(read([opened, began, completed('turn-2', 'child')]).summary.ending).toBeUndefined();
});

test('an error that Codex retries does not end the turn', () => {
  const error = (willRetry: boolean): JsonObject => ({
    method: 'error',
    params: {
      threadId: 'thread-1',
      willRetry,
      error: { message: 'Reconnecting... 1/5', additionalDetails: 'no route' },
    },
  });
  const { events, summary } = read([opened, began, error(true), completed('turn-1')]);
  expect(summary).toMatchObject({ ending: 'completed' });
  expect(summary.failure).toBeUndefined();
  expect(events).toContainEqual({ type: 'error', message: 'Reconnecting... 1/5\nno route' });
  expect(read([opened, began, error(false)]).summary.failure).toContain('Reconnecting');
});

test('a request that Codex refuses is why the turn failed', () => {
  const { summary } = read([{ id: 2, error: { code: -32600, message: 'no rollout found' } }]);
  expect(summary).toMatchObject({ failure: 'no rollout found' });
});

test('a declared server that does not start is an error', () => {
  const { events } = read([
    opened,
    {
      method: 'mcpServer/startupStatus/updated',
      params: { threadId: 'thread-1', name: 'glossary', status: 'failed', error: 'broken pipe' },
    },
  ]);
  expect(deriveAgentMetadata(events).errors).toEqual(['The MCP server glossary did not start: broken pipe']);
});

test('the answer to a schema is the last message, not all that was said on the way', () => {
  const said = (id: string, text: string) =>
    item('completed', { type: 'agentMessage', id, text, phase: null });
  const { mapper } = read([
    opened,
    began,
    said('a', 'I look.'),
    said('b', '{"ok":true}'),
    completed('turn-1'),
  ]);
  expect(mapper.finalMessage).toBe('{"ok":true}');
});

test('text with line breaks, NUL and separators of lines stays whole, and a torn line harms no other', () => {
  const text = 'one\ntwo\0three\u2028four';
  const message = JSON.stringify(item('completed', { type: 'agentMessage', id: 'a', text, phase: null }));
  const lines = [JSON.stringify(opened), '{"method":"item/comp', `\0${message}`, message].join('\n');
  const { events, summary } = readNative(new AppServerStream(), Buffer.from(`${lines}\n`));
  expect(events).toContainEqual(expect.objectContaining({ type: 'message', text }));
  expect(summary).toMatchObject({ lines: 4, malformed: 2 });
});

test('a message that was cut off is kept as far as it came', () => {
  const delta = (text: string): JsonObject => ({
    method: 'item/agentMessage/delta',
    params: { threadId: 'thread-1', itemId: 'm', delta: text },
  });
  expect(read([opened, began, delta('It is '), delta('begun')]).events.at(-1)).toMatchObject({
    text: 'It is begun',
  });
});

test('a notification of a later version is kept, and every item of this one is known', () => {
  const later: JsonObject = { method: 'thread/of/tomorrow', params: {} };
  const { events, summary } = read([opened, later]);
  expect(events).toContainEqual({ type: 'raw', native: later });
  expect(summary.unknown).toBe(1);
  expect(['commandExecution', 'agentMessage', 'of the future'].map(isCallType)).toEqual([true, false, false]);
});

test('the settings in force come from Codex, not from what was asked', () => {
  expect(recorded.stream('main').summary.facts).toMatchObject({
    own: { sandbox: 'workspace-write', approvalPolicy: 'granular', network: 'disabled' },
    ...{ threadId: expect.any(String), turnId: expect.any(String) },
  });
  expect(recorded.stream('sandboxed').summary.facts).toMatchObject({ own: { sandbox: 'read-only' } });
  expect(recorded.stream('declined').summary.facts).toMatchObject({ own: { approvalPolicy: 'untrusted' } });
});

test('a declined call is rejected, and a patch that was accepted changed its file', () => {
  const { tools, fileChanges } = deriveAgentMetadata(recorded.stream('declined').events);
  expect(tools.map(({ name, status }) => [name, status])).toEqual([
    ['command_execution', 'rejected'],
    ['apply_patch', 'completed'],
  ]);
  expect(fileChanges).toEqual([{ path: 'inside.txt', change: 'added' }]);
});
