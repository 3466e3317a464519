import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { type NativeReading, readNative } from '../__fixtures__/read-native.ts';
import { recordingsOf } from '../__fixtures__/recordings.ts';
import { PiStream } from './stream.ts';

const recorded = recordingsOf('pi');

test.each([
  ['main', 'main-resumed'],
  ['compact', 'compact-resumed'],
  ['unauthorized', 'unauthorized'],
  ['outage', 'outage'],
])('%s: reports of its last turn what the stream %s reports', (name, streamName) => {
  const stream = readNative(new PiStream(), recorded.bytesOf(`${streamName}.stream.jsonl`));
  const { ending, failure, sessionId, usage } = stream.summary;
  const { summary } = recorded.transcript(name);
  expect(summary).toMatchObject({ ending, sessionId, ...present({ usage }) });
  expect(summary.failure).toBe(failure);
});

test('has the same calls of all turns as the streams', () => {
  const calls = ({ events }: NativeReading) =>
    events.flatMap((event) =>
      event.type === 'action.called' || event.type === 'action.result' ? [[event.type, event.callId]] : [],
    );
  const streams = ['main', 'main-resumed'].flatMap((name) =>
    calls(readNative(new PiStream(), recorded.bytesOf(`${name}.stream.jsonl`))),
  );
  expect(calls(recorded.transcript('main')).toSorted()).toEqual(streams.toSorted());
});
