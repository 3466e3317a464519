import {
  addUsage,
  type EventEnvelope,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { textIn } from '../../kit/fields.ts';
import type { NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import { errorMessage, stepCost, stepUsage } from './parts.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

/** Ending, usage and cost of a turn, collected step by step, because OpenCode has no end event. */
export class OpencodeTurn {
  #ending: NativeSummary['ending'];
  #failure: string | undefined;
  #usage: Usage | undefined;
  #costUsd = 0;
  #steps = 0;
  #cutSteps = 0;

  /** `stop` ends the turn. Another step follows `tool-calls`, and `unknown` for a step that was cut off. */
  finishStep(part: JsonObject, envelope: EventEnvelope & { model?: string }): StreamEvent[] {
    const reason = textIn(part.reason);
    this.#steps += 1;
    this.#ending = undefined;
    if (reason === 'stop') {
      this.#ending = 'completed';
      this.#failure = undefined;
    } else if (reason === 'unknown') this.#cutSteps += 1;
    else if (reason !== undefined && reason !== 'tool-calls') {
      this.#ending = 'failed';
      this.#failure = `The last step finished with the reason "${textTail(reason, 64)}".`;
    }
    return this.#use(part, envelope);
  }

  #use(part: JsonObject, envelope: EventEnvelope & { model?: string }): StreamEvent[] {
    const usage = stepUsage(part.tokens);
    if (!usage) return [];
    const costUsd = stepCost(part);
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    this.#costUsd += costUsd ?? 0;
    return [{ type: 'usage', usage, ...present({ costUsd }), ...envelope }];
  }

  fail(error: JsonValue | undefined, envelope: EventEnvelope): StreamEvent[] {
    const message = errorMessage(error);
    this.#ending = 'failed';
    this.#failure = textTail(message, TEXT_LIMIT_BYTES);
    return [{ type: 'error', message, ...envelope }];
  }

  /** The turn continues, because the step that ended only wrote a summary. */
  goOn(): void {
    this.#ending = undefined;
  }

  summary(): Omit<NativeSummary, 'sessionId' | 'metadata'> & { metadata: JsonObject } {
    return {
      ...present({ ending: this.#ending, failure: this.#failure, usage: this.#usage }),
      ...(this.#costUsd > 0 && { costUsd: this.#costUsd }),
      metadata: { steps: this.#steps, cutSteps: this.#cutSteps },
    };
  }
}
