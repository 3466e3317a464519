import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { costIn, requiredText, textIn } from '../../kit/fields.ts';
import { thinkingEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeSummary } from '../../kit/native-mapper.ts';
import { SessionRecord } from '../../kit/session-record.ts';
import { textTail } from '../../kit/text-tail.ts';
import { errorMessage, stepUsage, subagentOf, toolEvents } from './parts.ts';

/** Maps the parts that stream and transcript share. It follows the turn step by step, because there is no end event. */
export class OpencodeSession {
  readonly record = new SessionRecord();
  readonly #place: MapperPlace;
  #steps = 0;
  #cutSteps = 0;

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  beginTurn(): void {
    this.record.beginTurn();
    this.#steps = 0;
    this.#cutSteps = 0;
  }

  /**
   * The events of any part but a text; `undefined` for an unknown type. The stream has types of its own for the same
   * parts. `model` is that of a step.
   */
  part(type: JsonValue | undefined, part: JsonObject, model?: string): StreamEvent[] | undefined {
    switch (type) {
      case 'step-start':
      case 'step_start':
        return [];
      case 'reasoning':
        return thinkingEvents(requiredText(part.text));
      case 'tool':
      case 'tool_use':
        Object.assign(this.record.subagents, subagentOf(part));
        return toolEvents(part, this.#place);
      case 'step-finish':
      case 'step_finish':
        this.#finishStep(textIn(part.reason));
        return this.#usageEvents(part, model);
      default:
        return undefined;
    }
  }

  /** `stop` ends the turn. Another step follows `tool-calls`, and `unknown` for a step that was cut off. */
  #finishStep(reason: string | undefined): void {
    const { record } = this;
    this.#steps += 1;
    record.ending = undefined;
    if (reason === 'stop') {
      record.ending = 'completed';
      record.failure = undefined;
    } else if (reason === 'unknown') this.#cutSteps += 1;
    else if (reason !== undefined && reason !== 'tool-calls') {
      record.ending = 'failed';
      record.failure = `The last step finished with the reason "${textTail(reason, 64)}".`;
    }
  }

  #usageEvents({ tokens, cost }: JsonObject, model: string | undefined): StreamEvent[] {
    const usage = stepUsage(tokens);
    return usage ? this.record.used(usage, { costUsd: costIn(cost), model }) : [];
  }

  fail(error: JsonValue | undefined): StreamEvent[] {
    const message = errorMessage(error);
    this.record.ending = 'failed';
    this.record.failure = message;
    return [{ type: 'error', message }];
  }

  summary(metadata: JsonObject = {}): NativeSummary {
    const steps = { steps: this.#steps, cutSteps: this.#cutSteps };
    return { ...this.record.summary(), metadata: { opencode: { ...steps, ...metadata } } };
  }
}
