import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';
import { momentIn, objectIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { PiSession } from './messages.ts';

/** Below the agent's home: one file per session, with all its turns. */
export const piTranscriptPattern = '.pi/agent/sessions/*/*.jsonl';

/**
 * Maps a session file of pi (version 3). Its entries are a tree by `parentId`, in the order in which they happened.
 * Every entry counts, because abandoned branches were also done and paid for. The summary covers the last turn.
 */
export function createPiTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new PiTranscript(place);
}

class PiTranscript implements NativeMapper {
  readonly #session: PiSession;
  #turn = -1;

  constructor(place: MapperPlace) {
    this.#session = new PiSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'session':
        return this.#session.start(item);
      case 'model_change':
        return []; // every answer names its model
      case 'message': {
        const message = objectIn(item.message);
        if (message?.role === 'user') {
          this.#turn += 1;
          this.#session.beginTurn();
        }
        return message && this.#session.message(message, this.#envelope(item));
      }
      case 'compaction':
        return this.#session.compacted(item, this.#envelope(item));
      // It removes a failed answer from the context before the retry.
      case 'context_edit':
        if (item.replacement === null && this.#session.lastStop === 'failed') this.#session.retry();
        return undefined;
      default:
        return undefined;
    }
  }

  #envelope(item: JsonObject): EventEnvelope {
    return { ...momentIn(item.timestamp), ...(this.#turn >= 0 && { turn: this.#turn }) };
  }

  summary(): NativeSummary {
    return this.#session.summary(this.#session.lastStop);
  }
}
