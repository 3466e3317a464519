import type { JsonObject, StreamEvent } from '@whetstone/events';
import { objectIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped } from '../../kit/session-record.ts';
import { PiSession } from './messages.ts';

/**
 * Maps a session file of pi (version 3). Its entries are a tree by `parentId`, in the order in which they happened.
 * Every entry counts, because abandoned branches were also done and paid for. The summary covers the last turn.
 */
export class PiTranscript implements NativeMapper {
  readonly #session: PiSession;

  constructor(place: MapperPlace = {}) {
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
        if (message?.role === 'user') this.#session.beginTurn();
        return message && this.#inTurn(this.#session.message(message), item);
      }
      case 'compaction':
        return this.#inTurn(this.#session.compacted(item), item);
      // It removes a failed answer from the context before the retry.
      case 'context_edit':
        if (item.replacement === null && this.#session.lastStop === 'failed') this.#session.retry();
        return undefined;
      default:
        return undefined;
    }
  }

  #inTurn(events: StreamEvent[] | undefined, item: JsonObject): StreamEvent[] | undefined {
    return enveloped(events, this.#session.record.envelope(item));
  }

  summary(): NativeSummary {
    this.#session.record.ending = this.#session.lastStop;
    return this.#session.summary();
  }
}
