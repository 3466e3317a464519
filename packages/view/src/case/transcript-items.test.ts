import { expect, test } from 'vitest';

type Item = {
  event: Record<string, unknown>;
  result?: Record<string, unknown>;
  depth: number;
  opens?: number;
};

const { transcriptItems }: { transcriptItems: (events: Record<string, unknown>[]) => Item[] } = await import(
  new URL('./transcript-items.js', import.meta.url).href
);

const called = (callId: string, more = {}) => ({ type: 'action.called', callId, ...more });
const result = (callId: string, more = {}) => ({ type: 'action.result', callId, ...more });

const shape = (events: Record<string, unknown>[]) =>
  transcriptItems(events).map(({ event, result: end, depth }) => [
    event.type,
    event.callId,
    end?.type,
    depth,
  ]);

test('a call has its result, in the order of the calls', () => {
  expect(shape([called('a'), called('b'), result('b'), { type: 'message' }, result('a')])).toEqual([
    ['action.called', 'a', 'action.result', 0],
    ['action.called', 'b', 'action.result', 0],
    ['message', undefined, undefined, 0],
  ]);
});

test('a result without a call, and a second one, are not lost', () => {
  expect(shape([result('x'), called('a'), result('a'), result('a')])).toEqual([
    ['action.result', 'x', undefined, 0],
    ['action.called', 'a', 'action.result', 0],
    ['action.result', 'a', undefined, 0],
  ]);
});

test('what a sub-agent did stands below the call that started it', () => {
  const delegated = { type: 'subagent.called', callId: 'a' };
  const inner = called('b', { parentCallId: 'a' });
  const innermost = { type: 'message', parentCallId: 'b' };
  expect(shape([called('a'), delegated, inner, innermost, result('b'), result('a')])).toEqual([
    ['action.called', 'a', 'action.result', 0],
    ['action.called', 'b', 'action.result', 1],
    ['message', undefined, undefined, 2],
  ]);
});

test('fields of any value are taken as they are', () => {
  const odd = [
    { type: {}, callId: [] },
    called('a', { parentCallId: {} }),
    { type: 'action.result', callId: null },
  ];
  expect(transcriptItems(odd)).toHaveLength(3);
});

test('the first item of each turn opens it, where there are several', () => {
  const opens = (...events: Record<string, unknown>[]) => transcriptItems(events).map((item) => item.opens);
  const message = (turn?: number) => ({ type: 'message', turn });
  expect(opens(message(0), message(0), message(1), message(2), message())).toEqual([
    1,
    undefined,
    2,
    3,
    undefined,
  ]);
  expect(opens(message(0), message(0), message())).toEqual([undefined, undefined, undefined]);
});
