import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { PiStream } from './stream.ts';
import { PiTranscript } from './transcript.ts';

/** pi. In JSON mode its exit code is always 0, so the `stopReason` of the last assistant message decides the ending. */
export const pi: DrivenAgent = {
  kind: 'pi',
  facts,
  release,
  launch,
  stream: { open: (place) => new PiStream(place) },
  transcript: {
    kind: 'files',
    // One file per session, with all its turns.
    pattern: '.pi/agent/sessions/*/*.jsonl',
    createMapper: (place) => new PiTranscript(place),
  },
};
