import type { JsonObject, StreamEvent } from '@whetstone/events';
import { momentIn, objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { enveloped } from '../../kit/session-record.ts';
import { PiSession } from './messages.ts';

/** Events that only announce or repeat. The `*_end` event of a message or a call has all of their content. */
const PROGRESS = new Set([
  'turn_start',
  'turn_end',
  'tool_execution_update',
  'compaction_start',
  'agent_settled',
]);

/**
 * Maps the output of `pi --mode json`, 0.73 to 0.87. Only finished messages and calls become events, and the
 * text of a message that was cut off. The other updates are skipped. They are most of the stream (in 0.73 they
 * grow with the square of the message).
 */
export class PiStream implements NativeMapper {
  readonly #session: PiSession;
  readonly #texts = new OpenTexts();

  constructor(place: MapperPlace = {}) {
    this.#session = new PiSession(place);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { type } = item;
    if (typeof type !== 'string') return undefined;
    if (PROGRESS.has(type)) return [];
    switch (type) {
      case 'session':
        return this.#session.start(item);
      case 'message_start':
        return this.#texts.cutOff();
      case 'message_update': {
        const { type: kind, delta } = objectIn(item.assistantMessageEvent) ?? {};
        if (kind === 'text_delta' && typeof delta === 'string') this.#texts.add('', delta);
        return [];
      }
      case 'agent_start':
        this.#session.record.ending = undefined;
        return [];
      case 'message_end': {
        const message = objectIn(item.message);
        this.#texts.close('');
        return message && enveloped(this.#session.message(message), momentIn(message.timestamp));
      }
      case 'tool_execution_start':
        return this.#session.called(item.toolCallId, item.toolName, item.args);
      case 'tool_execution_end': {
        const result = objectIn(item.result);
        const { toolCallId, toolName, isError } = item;
        return result && this.#session.result(toolCallId, toolName, result, isError === true);
      }
      case 'agent_end':
        this.#session.record.ending = item.willRetry === true ? undefined : this.#session.lastStop;
        return [];
      case 'auto_retry_start':
        // The failed message reported the error. The ending stays open until the next message.
        this.#session.retry();
        this.#session.record.ending = undefined;
        return [];
      case 'auto_retry_end':
        return this.#retryEnd(item);
      case 'compaction_end':
        return this.#compactionEnd(item);
      case 'extension_error':
        return [{ type: 'error', message: textIn(item.error) ?? 'An extension failed.' }];
      default:
        return undefined;
    }
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  #retryEnd({ success, finalError }: JsonObject): StreamEvent[] {
    const { record } = this.#session;
    if (success === false) {
      record.ending = 'failed';
      record.failure = textIn(finalError) ?? record.failure;
    }
    return [];
  }

  #compactionEnd({ result, errorMessage }: JsonObject): StreamEvent[] | undefined {
    const done = objectIn(result);
    if (done) return this.#session.compacted(done);
    return typeof errorMessage === 'string' ? [{ type: 'error', message: errorMessage }] : undefined;
  }

  summary(): NativeSummary {
    return this.#session.summary();
  }
}
