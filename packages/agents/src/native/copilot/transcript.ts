import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { CopilotSession } from './session-events.ts';

/** Maps the session file of Copilot CLI 1.0. Each process that writes to it ends with a shutdown event. */
export class CopilotTranscript implements NativeMapper {
  readonly #session: CopilotSession;
  readonly #workdir: string | undefined;

  constructor(place: MapperPlace = {}) {
    this.#session = new CopilotSession(place);
    this.#workdir = place.workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const data = objectIn(item.data) ?? {};
    switch (item.type) {
      case 'session.start':
        return [this.#started(item, data)];
      case 'session.resume':
        return [];
      case 'session.shutdown':
        this.#session.isOver = true;
        if (data.shutdownType === 'error') {
          this.#session.record.failure = textIn(data.errorReason) ?? 'The program ended with an error.';
        }
        return [];
      case 'user.message':
        // A message during a turn, or from the agent to itself, does not begin a turn.
        if (item.agentId === undefined && data.delivery === 'idle' && data.isAutopilotContinuation !== true) {
          this.#session.beginTurn();
        }
        return this.#session.map(item);
      default:
        return this.#session.map(item);
    }
  }

  summary(): NativeSummary {
    return this.#session.summary();
  }

  #started(item: JsonObject, data: JsonObject): StreamEvent {
    const { record } = this.#session;
    const { sessionId, copilotVersion: runtimeVersion, selectedModel: model } = data;
    const workingDir = textIn(objectIn(data.context)?.cwd) ?? this.#workdir;
    const facts = present({ runtimeVersion, model, workingDir });
    return { ...record.started('copilot', requiredText(sessionId), facts), ...record.envelope(item) };
  }
}
