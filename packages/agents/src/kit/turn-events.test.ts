import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { createTurnEvents } from './turn-events.ts';

const called: StreamEvent = { type: 'action.called', callId: 'a', name: 'shell', input: {} };
const decided = (decision: 'approved' | 'denied'): StreamEvent => ({
  ...{ type: 'approval.decided', source: 'host', callId: 'a', decision },
  ...{ by: 'policy', rule: 'permissions.shell: off' },
});
const result = (status: 'completed' | 'failed'): StreamEvent => ({
  type: 'action.result',
  callId: 'a',
  status,
});

function statusesOf(events: readonly StreamEvent[]): string[] {
  const turn = createTurnEvents({ emit: () => {} });
  for (const event of events) turn.add(event);
  turn.end();
  return turn.events.flatMap((event) => (event.type === 'action.result' ? [event.status] : []));
}

test.each([
  ['that the agent reports as failed', [called, decided('denied'), result('failed')]],
  ['that the agent does not report', [called, decided('denied')]],
])('a refused call %s is rejected, once', (_, events) => {
  expect(statusesOf(events)).toEqual(['rejected']);
});

test('a call that was carried out in spite of its refusal stays completed', () => {
  expect(statusesOf([called, decided('denied'), result('completed')])).toEqual(['completed']);
});

test('a call that failed by itself stays failed, and a refusal without a call adds none', () => {
  expect(statusesOf([called, decided('approved'), result('failed')])).toEqual(['failed']);
  expect(statusesOf([decided('denied')])).toEqual([]);
});
