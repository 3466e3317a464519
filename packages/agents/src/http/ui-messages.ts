import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Turn } from '../agent.ts';
import { answerFrames, type HttpAnswer } from './answer-frames.ts';
import { isJsonObject, objectsAt, textAt } from './json-reading.ts';
import { createTurnDraft, type TurnDraft } from './turn-draft.ts';

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
  const draft = createTurnDraft();
  const reader = createPartReader(draft);
  let failure: string | undefined;
  for await (const frame of answerFrames(answer)) {
    if (frame.kind === 'failed') failure = frame.message;
    else if (frame.kind === 'done') reader.end();
    else if (frame.kind === 'event') reader.take(frame.value);
    else if (frame.kind === 'whole' && Array.isArray(frame.value)) takeAll(reader, draft, frame.value);
    else {
      draft.addRaw(frame.value);
      if (frame.kind === 'whole') failure = 'The answer is not a UI-message stream.';
    }
  }
  if (failure === undefined && !reader.isOver()) failure = 'The stream ended before the answer did.';
  reader.end();
  if (failure !== undefined) draft.fail(failure);
  return draft.finish({ waiting: reader.isWaiting() });
}

/** The parts of a stream, collected by the caller in a list. */
function takeAll(reader: PartReader, draft: TurnDraft, parts: JsonValue[]): void {
  for (const part of parts) {
    if (isJsonObject(part)) reader.take(part);
    else draft.addRaw(part);
  }
  reader.end();
}

type PartReader = {
  take(part: JsonObject): void;
  /** Call it after the last part: ends the texts that the stream has left open. */
  end(): void;
  /** Whether the end mark of the stream was seen. */
  isOver(): boolean;
  isWaiting(): boolean;
};

function createPartReader(draft: TurnDraft): PartReader {
  const texts = createOpenTexts(draft);
  const approvals = createApprovals();
  let stepStart = 0;
  let over = false;

  const finish = (part: JsonObject): void => {
    over = true;
    const reason = textAt(part, 'finishReason') ?? 'stop';
    const isSaid = reason === 'error' && draft.events.some(({ type }) => type === 'error');
    if (!FINISHED.includes(reason) && !isSaid) draft.fail(`The answer was cut off: ${reason}.`);
  };
  const abort = (part: JsonObject): void => {
    over = true;
    const reason = textAt(part, 'reason');
    draft.fail(`The answer was aborted${reason === undefined ? '' : `: ${reason}`}.`);
  };
  /** The step is repeated; its earlier output no longer counts. */
  const resetStep = (part: JsonObject): void => {
    texts.clear();
    draft.events.splice(stepStart);
    draft.addRaw(part);
  };

  return {
    take(part) {
      if (texts.take(part)) return;
      // Any other part may come while a text is open.
      if (ENDS_TEXTS.has(textAt(part, 'type') ?? '')) texts.closeAll();
      if (part.messageMetadata !== undefined) draft.addRaw(part);
      switch (part.type) {
        case 'start-step':
        case 'finish-step':
          stepStart = draft.events.length;
          break;
        case 'reset-step':
          resetStep(part);
          break;
        case 'finish':
          finish(part);
          break;
        case 'abort':
          abort(part);
          break;
        case 'error':
          draft.fail(textAt(part, 'errorText') ?? 'The stream reported an error.');
          break;
        default:
          for (const event of partEvents(part, approvals)) draft.add(event);
      }
    },
    end() {
      over = true;
      texts.closeAll();
    },
    isOver: () => over,
    isWaiting: () => approvals.areOpen(),
  };
}

/** Texts and reasoning that have begun, by kind and id, in order of their beginning. */
function createOpenTexts(draft: TurnDraft) {
  const open = new Map<string, { kind: string; text: string }>();
  const close = (key: string): void => {
    const { kind = '', text = '' } = open.get(key) ?? {};
    open.delete(key);
    if (text === '') return;
    draft.add(kind === 'text' ? { type: 'message', role: 'assistant', text } : { type: 'thinking', text });
  };
  return {
    /** Returns `false` for a part that is not text. */
    take(part: JsonObject): boolean {
      const [, kind = '', what] =
        /^(text|reasoning)-(start|delta|end)$/.exec(textAt(part, 'type') ?? '') ?? [];
      if (what === undefined) return false;
      const key = `${kind} ${textAt(part, 'id') ?? ''}`;
      const text = (open.get(key)?.text ?? '') + (textAt(part, 'delta') ?? '');
      open.set(key, { kind, text });
      if (what === 'end') close(key);
      return true;
    },
    closeAll(): void {
      for (const key of [...open.keys()]) close(key);
    },
    clear: () => open.clear(),
  };
}

/** Approvals that were requested and not yet answered, each with its call. */
function createApprovals() {
  const open = new Map<string, string>();
  return {
    ask(approvalId: string, callId: string): void {
      open.set(approvalId, callId);
    },
    /** The call that needs the approval. */
    answer(approvalId: string): string {
      const callId = open.get(approvalId) ?? approvalId;
      open.delete(approvalId);
      return callId;
    },
    /** Drops the approval of a call that has a result. */
    settle(callId: string): void {
      for (const [approvalId, call] of open) if (call === callId) open.delete(approvalId);
    },
    areOpen: () => open.size > 0,
  };
}

function partEvents(part: JsonObject, approvals: ReturnType<typeof createApprovals>): StreamEvent[] {
  const callId = textAt(part, 'toolCallId') ?? '';
  switch (part.type) {
    case 'tool-input-available':
      return [calledEvent(callId, part)];
    case 'tool-input-error':
      return [calledEvent(callId, part), resultEvent(callId, 'failed', part.errorText)];
    case 'tool-output-available':
      approvals.settle(callId);
      // The whole output follows a preliminary one.
      return part.preliminary === true ? [] : [resultEvent(callId, 'completed', part.output)];
    case 'tool-output-error':
      approvals.settle(callId);
      return [resultEvent(callId, 'failed', part.errorText)];
    case 'tool-output-denied':
      approvals.settle(callId);
      return [resultEvent(callId, 'rejected', undefined)];
    case 'tool-approval-request': {
      const reason = textAt(part, 'reason');
      const asked: StreamEvent = { type: 'approval.requested', callId, ...(reason && { reason }) };
      if (part.isAutomatic === true) return [asked];
      const approvalId = textAt(part, 'approvalId') ?? callId;
      approvals.ask(approvalId, callId);
      return [asked, inputRequest(approvalId, part)];
    }
    case 'tool-approval-response': {
      const decision = part.approved === true ? 'approved' : 'denied';
      const call = approvals.answer(textAt(part, 'approvalId') ?? '');
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
