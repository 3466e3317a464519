import { expect, test } from 'vitest';
import { comparableEvents } from './comparable-events.ts';

const text = {
  type: 'message.part.updated',
  properties: { part: { id: 'prt_0123456789abABCDEFGHIJ0123', type: 'text' } },
};
const asked = { type: 'permission.asked', properties: { id: 'per_0123456789abABCDEFGHIJ0123' } };
const ask = { type: 'sdk.ask', id: 1 };
const replied = { type: 'permission.replied' };

test('a text of OpenCode may come beside the question about a call, and only there', () => {
  const compared = (...events: Parameters<typeof comparableEvents>[0]) => comparableEvents(events, []);
  const expected = compared(text, asked, ask, replied);
  expect(compared(asked, text, ask, replied)).toEqual(expected);
  expect(compared(asked, ask, text, replied)).toEqual(expected);
  expect(compared(asked, ask, replied, text)).not.toEqual(expected);
  expect(compared(text, ask, asked, replied)).not.toEqual(expected);
});
