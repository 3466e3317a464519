import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, requiredText } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped } from '../../kit/session-record.ts';
import { OpencodeSession } from './session.ts';

/**
 * Maps the output of `opencode run --format json`, 1.18: one line per finished part, without the parts of sub-agents.
 * The summary of a compaction comes as a message and a step like any other. Only the synthetic prompt after it shows
 * that it was a summary.
 */
export class OpencodeStream implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #session: OpencodeSession;
  #lastText: string | undefined;

  constructor(place: MapperPlace = {}) {
    this.#place = place;
    this.#session = new OpencodeSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { record } = this.#session;
    const events = this.#events(item);
    if (!events || record.sessionId !== undefined || typeof item.sessionID !== 'string')
      return enveloped(events, momentIn(item.timestamp));
    // The stream has no start event, so the first item names the session.
    const facts = present({ workingDir: this.#place.workdir });
    const started = record.started('opencode-cli', item.sessionID, facts);
    return enveloped([started, ...events], momentIn(item.timestamp));
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    if (item.type === 'error') return this.#session.fail(item.error);
    const part = objectIn(item.part);
    return item.type === 'text' && part
      ? this.#textEvents(part)
      : part && this.#session.part(item.type, part);
  }

  #textEvents(part: JsonObject): StreamEvent[] {
    const text = requiredText(part.text);
    if (part.synthetic !== true) {
      this.#lastText = text;
      return [{ type: 'message', role: 'assistant', text }];
    }
    const prompt: StreamEvent = { type: 'message', role: 'user', text };
    if (objectIn(part.metadata)?.compaction_continue !== true) return [prompt];
    // The turn continues, because the step that ended only wrote a summary.
    this.#session.record.ending = undefined;
    return [{ type: 'compaction', ...present({ summary: this.#lastText }) }, prompt];
  }

  summary(): NativeSummary {
    return this.#session.summary();
  }
}
