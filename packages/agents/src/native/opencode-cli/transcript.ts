import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped } from '../../kit/session-record.ts';
import { OpencodeSession } from './session.ts';

/**
 * Maps a session as `opencode export` prints it: `{ info, messages: [{ info, parts }] }`, with all its turns. Each
 * sub-agent has its own session. The summary covers the last turn.
 */
export class OpencodeTranscript implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #session: OpencodeSession;
  #version: string | undefined;

  constructor(place: MapperPlace = {}) {
    this.#place = place;
    this.#session = new OpencodeSession(place);
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

  #started({ id, version, model, directory = this.#place.workdir, time }: JsonObject): StreamEvent {
    this.#version = textIn(version);
    const facts = present({ runtimeVersion: version, model: objectIn(model)?.id, workingDir: directory });
    const started = this.#session.record.started('opencode-cli', requiredText(id), facts);
    return { ...started, ...momentIn(objectIn(time)?.created) };
  }

  #messageEvents(message: JsonObject): StreamEvent[] | undefined {
    const info = objectIn(message.info);
    if (!info || (info.role !== 'user' && info.role !== 'assistant')) return undefined;
    const parts = objectsIn(message.parts);
    if (info.role === 'user' && parts.some((part) => part.type === 'text' && part.synthetic !== true)) {
      this.#session.beginTurn();
    }
    const events = parts.flatMap(
      (part): StreamEvent[] => this.#known(part, info) ?? [{ type: 'raw', native: part }],
    );
    const failure = objectIn(info.error) ? this.#session.fail(info.error) : [];
    const timestamp = objectIn(info.time)?.created ?? null;
    return enveloped([...events, ...failure], this.#session.record.envelope({ timestamp }));
  }

  /** The events of a part; `undefined` for an unknown shape, which keeps the part and does not affect the others. */
  #known(part: JsonObject, info: JsonObject): StreamEvent[] | undefined {
    try {
      return this.#partEvents(part, info);
    } catch {
      return undefined;
    }
  }

  #partEvents(part: JsonObject, info: JsonObject): StreamEvent[] | undefined {
    // It announces the summary, which is the next message.
    if (part.type === 'compaction') return [];
    const events =
      part.type === 'text'
        ? textEvents(part, info)
        : this.#session.part(part.type, part, textIn(info.modelID));
    // The turn continues, because the step that ended only wrote a summary.
    if (part.type === 'step-finish' && info.summary === true) this.#session.record.ending = undefined;
    return enveloped(events, momentIn(objectIn(part.time)?.end));
  }

  summary(): NativeSummary {
    return this.#session.summary(present({ version: this.#version }));
  }
}

function textEvents(part: JsonObject, { role, summary }: JsonObject): StreamEvent[] {
  const text = requiredText(part.text);
  if (summary === true) return [{ type: 'compaction', summary: text }];
  return [{ type: 'message', role: role === 'user' ? 'user' : 'assistant', text }];
}
