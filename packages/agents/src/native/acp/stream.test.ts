import type { JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { readNative } from '../__fixtures__/read-native.ts';
import { linesOf } from '../__fixtures__/recordings.ts';
import { AcpStream } from './stream.ts';

const rpc = (fields: JsonObject) => ({ jsonrpc: '2.0', ...fields });
const update = (fields: JsonObject) =>
  rpc({ method: 'session/update', params: { sessionId: 's', update: fields } });
const chunk = (sessionUpdate: string, text: string, more: JsonObject = {}) =>
  update({ sessionUpdate, content: { type: 'text', text }, ...more });
const said = (text: string, more?: JsonObject) => chunk('agent_message_chunk', text, more);
const answer = (id: string, result: JsonObject) => rpc({ id, result });
const initialized = answer('initialize#0', {
  protocolVersion: 1,
  agentInfo: { name: 'mine', version: '1.2' },
});
const opened = answer('session/new#1', { sessionId: 's' });
const ended = (result: JsonObject = { stopReason: 'end_turn' }) => answer('session/prompt#2', result);

const read = (...items: object[]) =>
  readNative(new AcpStream({ workdir: '/w' }), linesOf(initialized, ...items));
const typesOf = ({ events }: ReturnType<typeof read>) => events.map(({ type }) => type);

test('pieces of a message or a thought are joined until something else happens', () => {
  const { events } = read(
    opened,
    chunk('agent_thought_chunk', 'Let me '),
    chunk('agent_thought_chunk', 'see.'),
    said('One\u0000'),
    said('\ntwo'),
    said('three', { messageId: 'another' }),
    ended(),
  );
  expect(events.slice(1)).toEqual([
    { type: 'thinking', text: 'Let me see.' },
    { type: 'message', role: 'assistant', text: 'One\u0000\ntwo' },
    { type: 'message', role: 'assistant', text: 'three' },
  ]);
});

test('a message that is cut off is kept, and the turn has no end', () => {
  const reading = read(opened, said('I begin'));
  expect(reading.events.at(-1)).toEqual({ type: 'message', role: 'assistant', text: 'I begin' });
  expect(reading.summary.ending).toBeUndefined();
});

test('the replay of an earlier session has no events, also after the answer', () => {
  const loaded = answer('session/load#1', {});
  const { events } = read(
    said('Long ago.'),
    loaded,
    said('Long ago, too.'),
    rpc({ id: '_whetstone/after_replay#2', error: { code: -32601, message: 'Method not found' } }),
    said('Now.'),
    ended(),
  );
  expect(events).toEqual([
    { type: 'session.started', sessionId: 's', runtime: 'acp', runtimeVersion: '1.2' },
    { type: 'message', role: 'assistant', text: 'Now.' },
  ]);
});

test('a call begins when the agent runs it or asks for it, with the input that it has then', () => {
  const call = { toolCallId: 'c', kind: 'execute' };
  const reading = read(
    opened,
    update({ ...call, sessionUpdate: 'tool_call', title: 'bash', status: 'pending', rawInput: {} }),
    update({
      ...call,
      sessionUpdate: 'tool_call_update',
      status: 'in_progress',
      rawInput: { command: 'make' },
    }),
    update({
      ...{ ...call, sessionUpdate: 'tool_call_update', status: 'completed' },
      rawOutput: { output: 'No rule', metadata: { exit: 2 } },
    }),
    ended(),
  );
  expect(reading.events.slice(1)).toEqual([
    { type: 'action.called', callId: 'c', name: 'shell', input: { command: 'make' } },
    {
      ...{ type: 'action.result', callId: 'c', status: 'failed' },
      output: { output: { output: 'No rule', metadata: { exit: 2 } }, exitCode: 2 },
    },
  ]);
});

test('a question shows a call that the agent never reported', () => {
  const toolCall = { toolCallId: 'c', kind: 'delete', title: 'Delete a', locations: [{ path: '/w/a' }] };
  const asked = rpc({ id: 0, method: 'session/request_permission', params: { toolCall, options: [] } });
  expect(read(opened, asked, ended()).events.at(-1)).toEqual({
    ...{ type: 'action.called', callId: 'c', name: 'delete' },
    input: { title: 'Delete a', paths: ['/w/a'] },
  });
});

test('the plan, and all that has no event of its own, are kept', () => {
  const entries = [{ content: 'Look', priority: 'high', status: 'in_progress' }];
  const mode = update({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' });
  const unknown = rpc({ id: 7, method: '_mine/question', params: {} });
  expect(
    read(opened, update({ sessionUpdate: 'plan', entries }), mode, unknown, ended()).events.slice(1),
  ).toEqual([
    { type: 'plan.updated', steps: [{ text: 'Look', status: 'in_progress' }] },
    { type: 'raw', native: mode },
    { type: 'raw', native: unknown },
  ]);
});

test.each([
  [
    { inputTokens: 100, outputTokens: 7, totalTokens: 107, cachedReadTokens: 40 },
    { inputTokens: 60, cacheReadTokens: 40 },
  ],
  [
    { inputTokens: 60, outputTokens: 7, totalTokens: 107, cachedReadTokens: 40 },
    { inputTokens: 60, cacheReadTokens: 40 },
  ],
])('each token counts once, whether the input has the cached ones or not', (usage, expected) => {
  const { summary } = read(opened, ended({ stopReason: 'end_turn', usage }));
  expect(summary.usage).toMatchObject({ ...expected, outputTokens: 7 });
});

test('OpenCode reports only its last model call, so the usage of its turn is unknown', () => {
  const opencode = answer('initialize#0', {
    protocolVersion: 1,
    agentInfo: { name: 'OpenCode', version: '1' },
  });
  const usage = { inputTokens: 100, outputTokens: 5, totalTokens: 105 };
  expect(read(opencode, opened, ended({ stopReason: 'end_turn', usage })).summary.usage).toBeUndefined();
});

test.each([
  ['cancelled', 'The turn was cancelled.'],
  ['refusal', 'The agent refused to go on.'],
  ['max_turn_requests', 'The agent reached its limit of model calls per turn.'],
  ['tired', 'The turn ended with the reason "tired".'],
])('a turn that ends with %s has failed', (stopReason, failure) => {
  expect(read(opened, ended({ stopReason })).summary).toMatchObject({ ending: 'failed', failure });
});

test('a request that the agent refuses fails the turn, with its words', () => {
  const error = { code: -32603, message: 'Internal error', data: { details: 'No such model' } };
  const reading = read(opened, rpc({ id: 'session/prompt#2', error }));
  const failure = 'session/prompt: Internal error: No such model';
  expect(reading.summary).toMatchObject({ ending: 'failed', failure });
  expect(reading.events.at(-1)).toEqual({ type: 'error', message: failure });
});

test('answers without our names are known by their shape', () => {
  const { summary } = readNative(
    new AcpStream({}),
    linesOf(
      rpc({ id: 0, result: { protocolVersion: 1 } }),
      rpc({ id: 1, result: { sessionId: 's' } }),
      said('Hello.'),
      rpc({ id: 2, result: { stopReason: 'end_turn' } }),
    ),
  );
  expect(summary).toMatchObject({ ending: 'completed', sessionId: 's', unknown: 0 });
});

test('a shape of another version is kept whole', () => {
  const strange = update({ sessionUpdate: 12 });
  expect(typesOf(read(opened, strange, ended()))).toEqual(['session.started', 'raw']);
});
