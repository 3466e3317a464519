import { expect, test } from 'vitest';
import { History } from './history.ts';
import type { HistoryTurn } from './turn.ts';

const base = { timestamp: '2026-01-01T00:00:00.000Z' };
const assistant = (id: string, ...callIds: string[]): HistoryTurn => ({
  ...base,
  id,
  kind: 'assistant',
  provider: 'fake',
  model: 'm',
  parts: callIds.map((callId) => ({ type: 'tool-call', callId, name: 'shell', input: '{}' })),
});
const results = (id: string, ...callIds: string[]): HistoryTurn => ({
  ...base,
  id,
  kind: 'tool_results',
  results: callIds.map((callId) => ({ callId, name: 'shell', content: `of ${callId}`, isError: false })),
});
const user = (id: string): HistoryTurn => ({ ...base, id, kind: 'user', content: 'hi' });

const answered = (history: History) =>
  history.turns.map((turn) =>
    turn.kind === 'tool_results'
      ? turn.results.map(({ callId, isError }) => (isError ? `${callId}!` : callId))
      : turn.id,
  );

test('missing results of a snapshot are answered, surplus ones are left out', () => {
  expect(answered(new History(Date.now, [user('1'), assistant('2', 'a', 'b')]))).toEqual([
    '1',
    '2',
    ['a!', 'b!'],
  ]);
  expect(
    answered(
      new History(Date.now, [
        assistant('1', 'a', 'b'),
        results('2', 'b', 'zzz'),
        user('3'),
        results('4', 'a'),
      ]),
    ),
  ).toEqual(['1', ['a!', 'b'], '3']);
  expect(answered(new History(Date.now, [assistant('1', 'a'), user('2')]))[1]).toEqual(['a!']);
});

test('results that are not the answers to the open calls are a fault of the caller', () => {
  const history = new History(Date.now, []);
  history.appendUser('hi');
  expect(() => history.appendToolResults([{ callId: 'a', name: 'x', content: '', isError: false }])).toThrow(
    /one to one/,
  );
  history.appendAssistant({
    parts: [{ type: 'tool-call', callId: 'a', name: 'x', input: '' }],
    provider: 'p',
    model: 'm',
  });
  expect(() => history.appendToolResults([])).toThrow(/one to one/);
  history.appendUser('next');
  expect(history.turns.map((turn) => turn.kind)).toEqual(['user', 'assistant', 'tool_results', 'user']);
});

test('call ids stay unique, and empty ones get a name', () => {
  const history = new History(Date.now, [assistant('1', 'call', 'call_2'), results('2', 'call', 'call_2')]);
  expect(history.uniqueCallId('new', new Set())).toBe('new');
  expect(history.uniqueCallId('call', new Set())).toBe('call_3');
  expect(history.uniqueCallId('', new Set(['call_1']))).toBe('call_3');
});

test('results are kept in the order of their calls, and each call has exactly one', () => {
  const result = (callId: string) => ({ callId, name: 'shell', content: callId, isError: false });
  const begin = () => new History(Date.now, [user('1'), assistant('2', 'a', 'b', 'c')], { open: true });
  const kept = begin().appendToolResults([result('c'), result('a'), result('b')]);
  expect(kept.results.map(({ callId }) => callId)).toEqual(['a', 'b', 'c']);
  for (const wrong of [
    ['a', 'b'],
    ['a', 'b', 'b'],
    ['a', 'b', 'z'],
    ['a', 'b', 'c', 'c'],
  ])
    expect(() => begin().appendToolResults(wrong.map(result))).toThrow('one to one');
});
