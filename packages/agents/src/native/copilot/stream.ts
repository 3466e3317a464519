import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { CopilotSession } from './session-events.ts';

/**
 * Maps the output of `copilot --output-format json`, 1.0. Only its last line has the session id and says that the turn
 * is over. Token counts are in the session file, not here. Deltas without their message are the
 * text of a message that was cut off. The stream names the model only in messages.
 */
export class CopilotStream implements NativeMapper {
  readonly #session: CopilotSession;
  readonly #texts = new OpenTexts();
  readonly #models = new Set<string>();
  #resultUsage: JsonObject = {};
  #turnId: string | undefined;

  constructor(place: MapperPlace = {}) {
    this.#session = new CopilotSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type !== 'result') return this.#sessionEvents(item);
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

  #sessionEvents(item: JsonObject): StreamEvent[] | undefined {
    const data = objectIn(item.data) ?? {};
    const id = textIn(data.messageId) ?? '';
    if (item.type === 'assistant.message_delta') {
      this.#texts.add(id, textIn(data.deltaContent) ?? '', this.#session.envelope(item, data));
      return [];
    }
    // The prompts of sub-agents come later.
    if (item.type === 'user.message') this.#turnId ??= textIn(data.interactionId);
    if (item.type !== 'assistant.message') return this.#session.map(item);
    this.#texts.close(id);
    if (typeof data.model === 'string') this.#models.add(data.model);
    return this.#session.map(item);
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  summary(): NativeSummary {
    const summary = this.#session.summary(this.#resultUsage);
    const models = this.#models.size > 0 ? [...this.#models] : undefined;
    return { ...summary, facts: present({ models, turnId: this.#turnId }) };
  }
}
