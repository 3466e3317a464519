import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { subagentOf, toolEvents } from './parts.ts';
import { OpencodeTurn } from './turn.ts';

/**
 * Arguments of `opencode` that print a session's transcript, one document for `readDocument`. Its standard output must
 * be a file: with a pipe, 1.18 may exit before it has written all of a large document.
 */
export const opencodeTranscriptArguments = (sessionId: string): string[] => ['export', sessionId];

/**
 * Maps a session as `opencode export` prints it: `{ info, messages: [{ info, parts }] }`, with all its turns. Each
 * sub-agent has its own session. The summary covers the last turn.
 */
export function createOpencodeTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new OpencodeTranscript(place);
}

class OpencodeTranscript implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #subagents: Record<string, string> = {};
  #turn = new OpencodeTurn();
  #turnIndex = -1;
  #sessionId: string | undefined;
  #version: string | undefined;

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  map(document: JsonObject): StreamEvent[] | undefined {
    const info = objectIn(document.info);
    if (!info || !Array.isArray(document.messages)) return undefined;
    return [
      this.#started(info),
      ...document.messages.flatMap((message): StreamEvent[] => {
        const known = objectIn(message);
        return (known && this.#messageEvents(known)) ?? [{ type: 'raw', native: message }];
      }),
    ];
  }

  #started(info: JsonObject): StreamEvent {
    this.#sessionId = requiredText(info.id);
    this.#version = textIn(info.version);
    const model = textIn(objectIn(info.model)?.id);
    const workingDir = textIn(info.directory) ?? this.#place.workdir;
    return {
      type: 'session.started',
      sessionId: this.#sessionId,
      runtime: 'opencode-cli',
      ...present({ runtimeVersion: this.#version, model, workingDir }),
      ...momentIn(objectIn(info.time)?.created),
    };
  }

  #messageEvents(message: JsonObject): StreamEvent[] | undefined {
    const info = objectIn(message.info);
    if (!info || (info.role !== 'user' && info.role !== 'assistant')) return undefined;
    const parts = objectsIn(message.parts);
    if (info.role === 'user' && parts.some((part) => part.type === 'text' && part.synthetic !== true)) {
      this.#turn = new OpencodeTurn();
      this.#turnIndex += 1;
    }
    const envelope = {
      ...momentIn(objectIn(info.time)?.created),
      ...(this.#turnIndex >= 0 && { turn: this.#turnIndex }),
    };
    const events = parts.flatMap(
      (part) => this.#known(part, info, envelope) ?? [{ type: 'raw' as const, native: part, ...envelope }],
    );
    return objectIn(info.error) ? [...events, ...this.#turn.fail(info.error, envelope)] : events;
  }

  /** The events of a part; `undefined` for an unknown shape, which keeps the part and does not affect the others. */
  #known(part: JsonObject, info: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    try {
      return this.#partEvents(part, info, envelope);
    } catch {
      return undefined;
    }
  }

  #partEvents(part: JsonObject, info: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    const { turn } = envelope;
    const at = momentIn(objectIn(part.time)?.end);
    switch (part.type) {
      case 'step-start':
        return [];
      case 'text':
        return this.#textEvents(requiredText(part.text), info, { ...envelope, ...at });
      case 'reasoning':
        return part.text === ''
          ? []
          : [{ type: 'thinking', text: requiredText(part.text), ...envelope, ...at }];
      case 'tool':
        Object.assign(this.#subagents, subagentOf(part));
        return toolEvents(part, this.#place, turn === undefined ? {} : { turn });
      case 'step-finish': {
        const model = textIn(info.modelID);
        const events = this.#turn.finishStep(part, { ...envelope, ...present({ model }) });
        if (info.summary === true) this.#turn.goOn();
        return events;
      }
      // It announces the summary, which is the next message.
      case 'compaction':
        return [];
      default:
        return undefined;
    }
  }

  #textEvents(text: string, info: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    if (info.summary === true) return [{ type: 'compaction', summary: text, ...envelope }];
    return [{ type: 'message', role: info.role === 'user' ? 'user' : 'assistant', text, ...envelope }];
  }

  summary(): NativeSummary {
    const { metadata, ...turn } = this.#turn.summary();
    const version = this.#version === undefined ? {} : { version: this.#version };
    return {
      ...turn,
      ...present({ sessionId: this.#sessionId }),
      ...(Object.keys(this.#subagents).length > 0 && { subagents: this.#subagents }),
      metadata: { opencode: { ...metadata, ...version } },
    };
  }
}
