import { isJsonObject, type JsonObject, type JsonValue, type StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Turn } from '../agent.ts';
import { messageEvents, thinkingEvents } from '../kit/mapped-events.ts';
import { answerFrames, type HttpAnswer } from './answer-frames.ts';
import { objectsAt, textAt } from './json-reading.ts';
import { TurnDraft } from './turn-draft.ts';

/** Parts after which an unfinished text cannot continue. */
const ENDS_TEXTS = new Set(['start-step', 'finish-step', 'finish', 'abort', 'error']);
const FINISHED = ['stop', 'tool-calls', 'other', 'unknown'];

/**
 * Makes a turn from a UI-message stream of the AI SDK (`toUIMessageStreamResponse`, `createUIMessageStreamResponse`;
 * protocol version 1 with the parts of `ai` 7). A tool approval without an answer makes the turn `waiting`. An `error` or
 * `abort` part, an answer that was cut off and a stream that breaks off are a failed turn. `data-*` parts, files, sources
 * and metadata have no mapping and become `raw` events. The protocol carries no usage. Never rejects.
 *
 * Written by hand because the AI SDK's `readUIMessageStream` folds a stream into one message, which loses the order
 * of calls and results, the finish reason, and whether the stream was complete.
 */
export async function fromUiMessages(answer: HttpAnswer): Promise<Turn> {
  const draft = new TurnDraft();
  const reader = new PartReader(draft);
  let failure: string | undefined;
  for await (const frame of answerFrames(answer)) {
    if (frame.kind === 'failed') failure = frame.message;
    else if (frame.kind === 'done') reader.end();
    else if (frame.kind !== 'whole') reader.take(frame.value);
    else if (Array.isArray(frame.value)) {
      // The parts of a stream, collected by the caller in a list.
      for (const part of frame.value) reader.take(part);
      reader.end();
    } else {
      draft.addRaw(frame.value);
      failure = 'The answer is not a UI-message stream.';
    }
  }
  if (!reader.isOver) failure ??= 'The stream ended before the answer did.';
  reader.end();
  if (failure !== undefined) draft.fail(failure);
  return draft.finish({ isWaiting: reader.isWaiting });
}

class PartReader {
  isOver = false;
  readonly #draft: TurnDraft;
  /** Texts and reasoning that have begun, by kind and id, in order of their beginning. */
  readonly #texts = new Map<string, { kind: string; text: string }>();
  /** Approvals that were requested and not yet answered, each with its call. */
  readonly #approvals = new Map<string, string>();
  #stepStart = 0;

  constructor(draft: TurnDraft) {
    this.#draft = draft;
  }

  get isWaiting(): boolean {
    return this.#approvals.size > 0;
  }

  take(part: JsonValue): void {
    if (!isJsonObject(part)) this.#draft.addRaw(part);
    else if (!this.#takeText(part)) this.#takeOther(part);
  }

  #takeOther(part: JsonObject): void {
    // Any other part may come while a text is open.
    if (ENDS_TEXTS.has(textAt(part, 'type') ?? '')) this.#closeTexts();
    if (part.messageMetadata !== undefined) this.#draft.addRaw(part);
    switch (part.type) {
      case 'start-step':
      case 'finish-step':
        this.#stepStart = this.#draft.events.length;
        break;
      // The step is repeated; its earlier output no longer counts.
      case 'reset-step':
        this.#texts.clear();
        this.#draft.events.splice(this.#stepStart);
        this.#draft.addRaw(part);
        break;
      case 'finish':
        this.#finish(textAt(part, 'finishReason') ?? 'stop');
        break;
      case 'abort': {
        this.isOver = true;
        const reason = textAt(part, 'reason');
        this.#draft.fail(`The answer was aborted${reason === undefined ? '' : `: ${reason}`}.`);
        break;
      }
      case 'error':
        this.#draft.fail(textAt(part, 'errorText') ?? 'The stream reported an error.');
        break;
      default:
        for (const event of this.#partEvents(part)) this.#draft.add(event);
    }
  }

  /** Call it after the last part: ends the texts that the stream has left open. */
  end(): void {
    this.isOver = true;
    this.#closeTexts();
  }

  #finish(reason: string): void {
    this.isOver = true;
    const isSaid = reason === 'error' && this.#draft.events.some(({ type }) => type === 'error');
    if (!FINISHED.includes(reason) && !isSaid) this.#draft.fail(`The answer was cut off: ${reason}.`);
  }

  /** Returns `false` for a part that is not text. */
  #takeText(part: JsonObject): boolean {
    const [, kind = '', what] = /^(text|reasoning)-(start|delta|end)$/.exec(textAt(part, 'type') ?? '') ?? [];
    if (what === undefined) return false;
    const key = `${kind} ${textAt(part, 'id') ?? ''}`;
    const text = (this.#texts.get(key)?.text ?? '') + (textAt(part, 'delta') ?? '');
    this.#texts.set(key, { kind, text });
    if (what === 'end') this.#closeText(key);
    return true;
  }

  #closeTexts(): void {
    for (const key of [...this.#texts.keys()]) this.#closeText(key);
  }

  #closeText(key: string): void {
    const { kind = '', text = '' } = this.#texts.get(key) ?? {};
    this.#texts.delete(key);
    const events = kind === 'text' ? messageEvents('assistant', text) : thinkingEvents(text);
    for (const event of events) this.#draft.add(event);
  }

  #partEvents(part: JsonObject): StreamEvent[] {
    const callId = textAt(part, 'toolCallId') ?? '';
    switch (part.type) {
      case 'tool-input-available':
        return [calledEvent(callId, part)];
      case 'tool-input-error':
        return [calledEvent(callId, part), resultEvent(callId, 'failed', part.errorText)];
      case 'tool-output-available':
        this.#settle(callId);
        // The whole output follows a preliminary one.
        return part.preliminary === true ? [] : [resultEvent(callId, 'completed', part.output)];
      case 'tool-output-error':
        this.#settle(callId);
        return [resultEvent(callId, 'failed', part.errorText)];
      case 'tool-output-denied':
        this.#settle(callId);
        return [resultEvent(callId, 'rejected', undefined)];
      case 'tool-approval-request': {
        const reason = textAt(part, 'reason');
        const asked: StreamEvent = { type: 'approval.requested', callId, ...present({ reason }) };
        if (part.isAutomatic === true) return [asked];
        const approvalId = textAt(part, 'approvalId') ?? callId;
        this.#approvals.set(approvalId, callId);
        return [asked, inputRequest(approvalId, part)];
      }
      case 'tool-approval-response': {
        const decision = part.approved === true ? 'approved' : 'denied';
        const approvalId = textAt(part, 'approvalId') ?? '';
        const call = this.#approvals.get(approvalId) ?? approvalId;
        this.#approvals.delete(approvalId);
        return [{ type: 'approval.decided', callId: call, decision }];
      }
      case 'steering-message': {
        const text = objectsAt(part, 'parts').flatMap((inner) => textAt(inner, 'text') ?? []);
        return [{ type: 'message', role: 'user', text: text.join('\n') }];
      }
      // The whole call comes when its input is available.
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'start':
        return [];
      case 'message-metadata':
        return part.messageMetadata === undefined ? [{ type: 'raw', native: part }] : [];
      default:
        return [{ type: 'raw', native: part }];
    }
  }

  /** Drops the approval of a call that has a result. */
  #settle(callId: string): void {
    for (const [approvalId, call] of this.#approvals) if (call === callId) this.#approvals.delete(approvalId);
  }
}

function calledEvent(callId: string, part: JsonObject): StreamEvent {
  const name = textAt(part, 'toolName') ?? 'unknown';
  return { type: 'action.called', callId, name, input: part.input ?? null };
}

function resultEvent(
  callId: string,
  status: 'completed' | 'failed' | 'rejected',
  output: JsonValue | undefined,
): StreamEvent {
  return { type: 'action.result', callId, status, ...present({ output }) };
}

function inputRequest(id: string, part: JsonObject): StreamEvent {
  const prompt = textAt(part, 'reason') ?? 'May the tool be called?';
  const options = [{ id: 'approve' }, { id: 'deny' }];
  return { type: 'input.requested', request: { id, prompt, kind: 'approval', options, data: part } };
}
