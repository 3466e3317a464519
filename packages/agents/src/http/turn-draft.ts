import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Turn } from '../agent.ts';
import { answerFrames, type HttpAnswer } from './answer-frames.ts';
import { countAt, objectAt, textAt } from './json-reading.ts';

/** Collects the parts of a turn. */
export class TurnDraft {
  readonly events: StreamEvent[] = [];
  #isFailed = false;
  #usage: Usage | undefined;

  add(event: StreamEvent): void {
    this.events.push(event);
  }

  /** Keeps a value that has no mapping, as a `raw` event. */
  addRaw(native: JsonValue): void {
    this.add({ type: 'raw', native });
  }

  /**
   * Adds the usage of an OpenAI answer, in which cached tokens are part of the input and reasoning is part of the output,
   * in exclusive buckets. Nothing if one of the two totals is missing. `names` are those of the totals.
   */
  addUsage(answer: JsonObject, names: { input: string; output: string }): void {
    const reported = objectAt(answer, 'usage');
    const input = countAt(reported, names.input);
    const outputTokens = countAt(reported, names.output);
    if (input === undefined || outputTokens === undefined) return;
    const details = objectAt(reported, `${names.input}_details`);
    const cacheReadTokens = countAt(details, 'cached_tokens');
    const cacheWriteTokens = countAt(details, 'cache_write_tokens');
    const reasoningTokens = countAt(objectAt(reported, `${names.output}_details`), 'reasoning_tokens');
    this.#usage = {
      inputTokens: Math.max(0, input - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0)),
      outputTokens,
      ...present({ cacheReadTokens, cacheWriteTokens, reasoningTokens }),
    };
    this.add({ type: 'usage', usage: this.#usage, ...present({ model: textAt(answer, 'model') }) });
  }

  fail(message: string): void {
    this.#isFailed = true;
    this.add({ type: 'error', message });
  }

  finish({ isWaiting = false } = {}): Turn {
    const status = this.#isFailed ? 'failed' : isWaiting ? 'waiting' : 'completed';
    return { events: this.events, status, ...present({ usage: this.#usage }) };
  }
}

/** The events of a stream, which are put together to one whole answer. */
export type AnswerStream = {
  /** Whether the last event of the answer was seen. */
  isOver: boolean;
  /** Adds an event; returns `false` for an event that has no place in an answer. */
  take(event: JsonObject): boolean;
  /** Called at the end mark of the stream. */
  end?(): void;
  answer(): JsonObject;
};

/** Drafts a turn from an answer, whole or streamed. */
export async function draftTurn(
  answer: HttpAnswer,
  addAnswer: (draft: TurnDraft, answer: JsonValue) => void,
  openStream: () => AnswerStream,
): Promise<TurnDraft> {
  const draft = new TurnDraft();
  let stream: AnswerStream | undefined;
  let failure: string | undefined;
  for await (const frame of answerFrames(answer)) {
    if (frame.kind === 'failed') failure = frame.message;
    else if (frame.kind === 'whole') addAnswer(draft, frame.value);
    else if (frame.kind === 'unknown') draft.addRaw(frame.value);
    else {
      stream ??= openStream();
      if (frame.kind === 'done') stream.end?.();
      else if (!stream.take(frame.value)) draft.addRaw(frame.value);
    }
  }
  if (stream) {
    addAnswer(draft, stream.answer());
    if (!stream.isOver) failure ??= 'The stream ended before the answer did.';
  }
  if (failure !== undefined) draft.fail(failure);
  return draft;
}
