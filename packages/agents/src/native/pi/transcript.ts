import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';
import { momentIn, objectIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { PiSession } from './messages.ts';

/** Of pi's home. One file is one session, with all its turns. */
export const piTranscriptPattern = '.pi/agent/sessions/*/*.jsonl';

/**
 * A session file of pi (version 3). Its entries are a tree by `parentId`, in the order in which they happened: what was
 * tried and left behind was done and paid for as well, so every entry counts. The summary is that of the last turn.
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
        return []; // every answer tells its model
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
      // A message is taken out of what the model sees: an answer that failed, before the next try.
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
