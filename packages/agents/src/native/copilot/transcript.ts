import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { CopilotSession } from './session-events.ts';

/** Below the agent's home, with the default `COPILOT_HOME`: one file per session, with its sub-agents. */
export const copilotTranscriptPattern = '.copilot/session-state/*/events.jsonl';

/** Maps the session file of Copilot CLI 1.0. Each process that writes to it ends with a shutdown event. */
export function createCopilotTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new CopilotTranscript(place);
}

class CopilotTranscript implements NativeMapper {
  readonly #session: CopilotSession;
  readonly #workdir: string | undefined;
  #sessionId: string | undefined;
  #isOver = false;

  constructor(place: MapperPlace) {
    this.#session = new CopilotSession(place);
    this.#workdir = place.workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const data = objectIn(item.data) ?? {};
    switch (item.type) {
      case 'session.start':
        return this.#start(item, data);
      case 'session.resume':
        return [];
      case 'session.shutdown':
        this.#isOver = true;
        if (data.shutdownType === 'error') {
          this.#session.fail(textIn(data.errorReason) ?? 'The program ended with an error.');
        }
        return [];
      case 'user.message':
        // A message during a turn, or from the agent to itself, does not begin a turn.
        if (item.agentId === undefined && data.delivery === 'idle' && data.isAutopilotContinuation !== true) {
          this.#isOver = false;
          this.#session.beginTurn();
        }
        return this.#session.map(item);
      default:
        return this.#session.map(item);
    }
  }

  summary(): NativeSummary {
    const ending = this.#session.ending(this.#isOver);
    return {
      ...this.#session.summary(),
      ...present({ ending, sessionId: this.#sessionId }),
    };
  }

  #start(item: JsonObject, data: JsonObject): StreamEvent[] {
    this.#sessionId = requiredText(data.sessionId);
    const version = textIn(data.copilotVersion);
    const model = textIn(data.selectedModel);
    const workingDir = textIn(objectIn(data.context)?.cwd) ?? this.#workdir;
    return [
      {
        type: 'session.started',
        sessionId: this.#sessionId,
        runtime: 'copilot',
        ...present({ runtimeVersion: version, model, workingDir }),
        ...this.#session.envelope(item),
      },
    ];
  }
}
