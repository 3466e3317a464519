import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { createTurnStamp } from './turn-stamp.ts';

const called = (callId: string): StreamEvent => ({ type: 'action.called', callId, name: 'shell', input: {} });
const ended = (callId: string): StreamEvent => ({ type: 'action.result', callId, status: 'completed' });

function stampAll(turns: readonly (readonly StreamEvent[])[]): (string | number | undefined)[][] {
  const stamp = createTurnStamp();
  return turns
    .flatMap((events, turn) => events.map((event) => stamp(event, turn)))
    .map((event) =>
      [event.turn, 'callId' in event ? event.callId : event.type, event.parentCallId].filter(
        (part) => part !== undefined,
      ),
    );
}

test('ids of the first turn stay, and ids that come again get the number of their turn', () => {
  expect(
    stampAll([
      [called('a'), { type: 'approval.requested', callId: 'a' }, ended('a')],
      [called('a'), called('b'), ended('b'), ended('a')],
      [{ type: 'approval.requested', callId: 'a' }, called('a'), ended('a'), called('b')],
    ]),
  ).toEqual([
    ...[
      [0, 'a'],
      [0, 'a'],
      [0, 'a'],
    ],
    ...[
      [1, 'a#2'],
      [1, 'b'],
      [1, 'b'],
      [1, 'a#2'],
    ],
    ...[
      [2, 'a#3'],
      [2, 'a#3'],
      [2, 'a#3'],
      [2, 'b#3'],
    ],
  ]);
});

test('a result in a later turn belongs to the call of the earlier turn', () => {
  expect(stampAll([[called('a')], [called('b'), ended('a'), ended('never called')]])).toEqual([
    [0, 'a'],
    [1, 'b'],
    [1, 'a'],
    [1, 'never called'],
  ]);
});

test('events of a sub-agent go with its call, and the turn that an adapter counted is replaced', () => {
  const delegated: StreamEvent[] = [
    { type: 'subagent.called', callId: 'a', name: 'helper', turn: 7 },
    { type: 'message', role: 'assistant', text: 'Hello.', parentCallId: 'a' },
  ];
  expect(stampAll([delegated, delegated])).toEqual([
    [0, 'a'],
    [0, 'message', 'a'],
    [1, 'a#2'],
    [1, 'message', 'a#2'],
  ]);
});
