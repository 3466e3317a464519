import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { CopilotSession } from './session-events.ts';

/**
 * Maps the output of `copilot --output-format json`, 1.0. Only its last line has the session id and says that the turn
 * is over. Token counts are in the session file, not here. Deltas without their message stay in the native bytes only.
 */
export function createCopilotMapper(place: MapperPlace = {}): NativeMapper {
  return new CopilotStream(place);
}

class CopilotStream implements NativeMapper {
  readonly #session: CopilotSession;
  #sessionId: string | undefined;
  #isOver = false;
  #resultUsage: JsonObject = {};

  constructor(place: MapperPlace) {
    this.#session = new CopilotSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type !== 'result') return this.#session.map(item);
    this.#sessionId = textIn(item.sessionId);
    this.#isOver = true;
    this.#resultUsage = objectIn(item.usage) ?? {};
    // A stopped run ends with `abort` and exit code 0.
    if (item.exitCode !== 0 && this.#session.ending(false) !== 'failed') {
      this.#session.fail(`exit code ${exitCode(item.exitCode)}`);
    }
    return [];
  }

  summary(): NativeSummary {
    const { metadata, ...summary } = this.#session.summary();
    const ending = this.#session.ending(this.#isOver);
    return {
      ...summary,
      ...present({ ending, sessionId: this.#sessionId }),
      metadata: { copilot: { ...this.#resultUsage, ...metadata.copilot } },
    };
  }
}

const exitCode = (code: JsonValue | undefined): string =>
  typeof code === 'number' ? String(code) : 'unknown';
