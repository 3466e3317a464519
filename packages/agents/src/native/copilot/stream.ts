import type { JsonObject, StreamEvent } from '@whetstone/events';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { CopilotSession } from './session-events.ts';

/**
 * Maps the output of `copilot --output-format json`, 1.0. Only its last line has the session id and says that the turn
 * is over. Token counts are in the session file, not here. Deltas without their message stay in the native bytes only.
 */
export class CopilotStream implements NativeMapper {
  readonly #session: CopilotSession;
  #resultUsage: JsonObject = {};

  constructor(place: MapperPlace = {}) {
    this.#session = new CopilotSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type !== 'result') return this.#session.map(item);
    const { record } = this.#session;
    record.sessionId = textIn(item.sessionId);
    this.#resultUsage = objectIn(item.usage) ?? {};
    // A stopped run ends with `abort` and exit code 0.
    if (item.exitCode !== 0) {
      record.failure ??= `exit code ${typeof item.exitCode === 'number' ? item.exitCode : 'unknown'}`;
    }
    this.#session.isOver = true;
    return [];
  }

  summary(): NativeSummary {
    return this.#session.summary(this.#resultUsage);
  }
}
