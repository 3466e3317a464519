import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { createPiMapper } from './stream.ts';
import { createPiTranscriptMapper, piTranscriptPattern } from './transcript.ts';

/** pi. In JSON mode its exit code is always 0, so the `stopReason` of the last assistant message decides the ending. */
export const pi: DrivenAgent = {
  kind: 'pi',
  facts,
  release,
  launch,
  stream: { open: (place) => createPiMapper(place) },
  transcript: { kind: 'files', pattern: piTranscriptPattern, createMapper: createPiTranscriptMapper },
};
