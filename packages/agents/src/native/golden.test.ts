import { describe, expect, test } from 'vitest';
import { goldenText } from './__fixtures__/read-native.ts';
import { recordedKinds, recordingsOf } from './__fixtures__/recordings.ts';

describe.each(recordedKinds)('%s', (kind) => {
  const { streamNames, transcriptNames, stream, transcript, goldenOf } = recordingsOf(kind);
  test.each([
    ...streamNames.map((name) => ['stream', name] as const),
    ...transcriptNames.map((name) => ['transcript', name] as const),
  ])('%s: %s', async (source, name) => {
    const reading = source === 'stream' ? stream(name) : transcript(name);
    await expect(goldenText(reading)).toMatchFileSnapshot(goldenOf(name, source));
  });
});
