import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, requiredText } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { subagentOf, toolEvents } from './parts.ts';
import { OpencodeTurn } from './turn.ts';

/**
 * Maps the output of `opencode run --format json`, 1.18: one line per finished part, without the parts of sub-agents.
 * The summary of a compaction comes as a message and a step like any other. Only the synthetic prompt after it shows
 * that it was a summary.
 */
export function createOpencodeMapper(place: MapperPlace = {}): NativeMapper {
  return new OpencodeStream(place);
}

class OpencodeStream implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #subagents: Record<string, string> = {};
  readonly #turn = new OpencodeTurn();
  #sessionId: string | undefined;
  #lastText: string | undefined;

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const events = this.#events(item, momentIn(item.timestamp));
    if (!events || this.#sessionId !== undefined || typeof item.sessionID !== 'string') return events;
    this.#sessionId = item.sessionID;
    return [this.#started(item.sessionID, momentIn(item.timestamp)), ...events];
  }

  /** The stream has no start event, so the first item names the session. */
  #started(sessionId: string, at: { at?: string }): StreamEvent {
    const { workdir } = this.#place;
    return {
      type: 'session.started',
      sessionId,
      runtime: 'opencode-cli',
      ...present({ workingDir: workdir }),
      ...at,
    };
  }

  #events(item: JsonObject, at: { at?: string }): StreamEvent[] | undefined {
    if (item.type === 'error') return this.#turn.fail(item.error, at);
    const part = objectIn(item.part);
    if (!part) return undefined;
    switch (item.type) {
      case 'step_start':
        return [];
      case 'text':
        return this.#textEvents(part, at);
      case 'reasoning':
        return part.text === '' ? [] : [{ type: 'thinking', text: requiredText(part.text), ...at }];
      case 'tool_use':
        Object.assign(this.#subagents, subagentOf(part));
        return toolEvents(part, this.#place, {});
      case 'step_finish':
        return this.#turn.finishStep(part, at);
      default:
        return undefined;
    }
  }

  #textEvents(part: JsonObject, at: { at?: string }): StreamEvent[] {
    const text = requiredText(part.text);
    if (part.synthetic !== true) {
      this.#lastText = text;
      return [{ type: 'message', role: 'assistant', text, ...at }];
    }
    const prompt: StreamEvent = { type: 'message', role: 'user', text, ...at };
    if (objectIn(part.metadata)?.compaction_continue !== true) return [prompt];
    this.#turn.goOn();
    const summary = this.#lastText;
    return [{ type: 'compaction', ...present({ summary }), ...at }, prompt];
  }

  summary(): NativeSummary {
    const { metadata, ...turn } = this.#turn.summary();
    return {
      ...turn,
      ...present({ sessionId: this.#sessionId }),
      ...(Object.keys(this.#subagents).length > 0 && { subagents: this.#subagents }),
      metadata: { opencode: metadata },
    };
  }
}
