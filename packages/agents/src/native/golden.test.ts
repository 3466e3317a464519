import { describe, expect, test } from 'vitest';
import { type IndependentReading, itemsOf, type Read } from './__fixtures__/independent-reading.ts';
import { goldenText, type NativeReading } from './__fixtures__/read-native.ts';
import { recordedKinds, recordingsOf } from './__fixtures__/recordings.ts';

describe.each(recordedKinds)('%s', (kind) => {
  const { streamNames, transcriptNames, stream, transcript, goldenOf, textOf } = recordingsOf(kind);
  test.each([
    ...streamNames.map((name) => ['stream', name] as const),
    ...transcriptNames.map((name) => ['transcript', name] as const),
  ])('%s: %s', async (source, name) => {
    const reading = source === 'stream' ? stream(name) : transcript(name);
    await expect(goldenText(reading)).toMatchFileSnapshot(goldenOf(name, source));
    const readings: Record<typeof source, Read> = await import(
      `./${kind}/__fixtures__/independent-reading.ts`
    );
    expect(outlineOf(reading)).toEqual(readings[source](itemsOf(textOf(name, source))));
  });
});

function outlineOf({ events, summary }: NativeReading): IndependentReading {
  const usages = events.flatMap((event) => (event.type === 'usage' ? event.usage : []));
  const total = (...counts: (number | undefined)[]): number =>
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return {
    calls: events.flatMap((event) => (event.type === 'action.called' ? `${event.callId} ${event.name}` : [])),
    texts: events.flatMap((event) =>
      event.type === 'message' && event.role === 'assistant' ? event.text : [],
    ),
    tokens: {
      input: total(
        ...usages.flatMap(({ inputTokens, cacheReadTokens, cacheWriteTokens }) => [
          inputTokens,
          cacheReadTokens,
          cacheWriteTokens,
        ]),
      ),
      output: total(...usages.map(({ outputTokens }) => outputTokens)),
    },
    ending: summary.ending,
  };
}
