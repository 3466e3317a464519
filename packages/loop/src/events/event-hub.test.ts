import { expect, test } from 'vitest';
import { EventHub, EventQueueOverflowError } from './event-hub.ts';
import type { SessionEvent } from './session-event.ts';

function startedHub() {
  const hub = new EventHub('session', () => 0);
  hub.emit('SESSION_START', { profile: 'p', provider: 'x', model: 'm', workingDirectory: '/' });
  return hub;
}

async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const collected: SessionEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

const error = (message: string) => ({ code: 'session-failed', message }) as const;

test('every consumer gets the start first and everything after it attached, until the end', async () => {
  const hub = startedHub();
  const early = hub.events();
  hub.emit('ERROR', error('one'));
  const late = hub.events();
  hub.emit('ERROR', error('two'));
  hub.close();
  const read = async (events: AsyncIterable<SessionEvent>) =>
    (await collect(events)).map((event) => event.kind);
  expect(await read(early)).toEqual(['SESSION_START', 'ERROR', 'ERROR']);
  expect(await read(late)).toEqual(['SESSION_START', 'ERROR']);
});

test('a waiting consumer is served at once, and ends with the hub', async () => {
  const hub = startedHub();
  const events = hub.events();
  await events.next();
  const pending = [events.next(), events.next()];
  hub.emit('ERROR', error('one'));
  hub.close();
  expect((await pending[0])?.value?.kind).toBe('ERROR');
  expect((await pending[1])?.done).toBe(true);
});

test('unread deltas of one source join, whole and in order; structural events never do', async () => {
  const hub = startedHub();
  const events = hub.events();
  const text = (blockId: string, delta: string) => hub.emit('ASSISTANT_TEXT_DELTA', { blockId, delta });
  text('1', 'a');
  hub.emit('TOOL_CALL_OUTPUT_DELTA', { callId: 'c', delta: 'x' });
  text('1', 'b');
  hub.emit('TOOL_CALL_OUTPUT_DELTA', { callId: 'c', delta: 'y' });
  hub.emit('ERROR', error('between'));
  text('1', 'c');
  hub.close();
  const seen = (await collect(events)).map((event) =>
    'delta' in event.data ? event.data.delta : event.kind,
  );
  expect(seen).toEqual(['SESSION_START', 'ab', 'xy', 'ERROR', 'c']);
});

test('output that nobody reads is bounded, text of the model is not cut', async () => {
  const hub = startedHub();
  const events = hub.events();
  for (let count = 0; count < 100; count += 1) {
    hub.emit('TOOL_CALL_OUTPUT_DELTA', { callId: 'c', delta: '😀'.repeat(1000) });
    hub.emit('ASSISTANT_TEXT_DELTA', { blockId: 'b', delta: 'x'.repeat(1000) });
  }
  hub.close();
  const [, output, text] = await collect(events);
  expect(output?.kind === 'TOOL_CALL_OUTPUT_DELTA' && output.data.delta.length).toBeLessThanOrEqual(65_536);
  expect(text?.kind === 'ASSISTANT_TEXT_DELTA' && text.data.delta.length).toBe(100_000);
});

test('an iterator that is never read gives every event that it holds, then fails; the others go on', async () => {
  const hub = startedHub();
  const forgotten = hub.events();
  let heard = 0;
  hub.on(() => {
    heard += 1;
  });
  for (let count = 0; count < 10_050; count += 1) hub.emit('ERROR', error(`error ${count}`));
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of forgotten) if (event.kind === 'ERROR') seen.push(event.data.message);
  })();
  await expect(reading).rejects.toThrow(EventQueueOverflowError);
  expect(seen).toEqual(Array.from({ length: 10_000 }, (_, count) => `error ${count}`));
  expect(heard).toBe(10_051);
});

test('no number of deltas drops another event or fails the iterator', async () => {
  const hub = startedHub();
  const events = hub.events();
  for (let block = 0; block < 12_000; block += 1) {
    hub.emit('ASSISTANT_TEXT_DELTA', { blockId: String(block), delta: 'x' });
    if (block % 3 === 0) hub.emit('ERROR', error(String(block)));
  }
  hub.close();
  const errors = (await collect(events)).filter((event) => event.kind === 'ERROR');
  expect(errors).toHaveLength(4_000);
});

test('a listener that throws is removed and reported, and the others go on', () => {
  const hub = startedHub();
  const kinds: string[] = [];
  hub.on((event) => {
    if (event.kind === 'ERROR') throw new Error('boom');
  });
  const stop = hub.on((event) => kinds.push(event.kind));
  hub.emit('ERROR', error('one'));
  hub.emit('ERROR', error('two'));
  stop();
  hub.emit('ERROR', error('three'));
  expect(kinds.toSorted()).toEqual(['ERROR', 'ERROR', 'SESSION_START', 'WARNING']);
});

test('return() ends an iterator early', async () => {
  const hub = startedHub();
  for await (const event of hub.events()) {
    expect(event.kind).toBe('SESSION_START');
    break;
  }
  const events = hub.events();
  await events.return?.();
  expect(await events.next()).toEqual({ done: true, value: undefined });
});
