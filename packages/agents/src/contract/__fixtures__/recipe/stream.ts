import type { JsonObject, StreamEvent } from '@whetstone/events';
import { requiredText } from '../../kit/fields.ts';
import type { NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';

/** Maps `{"say": text}` for each message, and `{"end": session}` as the last line. */
export function createInventedMapper(): NativeMapper {
  const summary: NativeSummary = {};
  return {
    map(item: JsonObject): StreamEvent[] | undefined {
      if (item.say !== undefined) return [{ type: 'message', role: 'assistant', text: requiredText(item.say) }];
      if (item.end === undefined) return undefined;
      summary.ending = 'completed';
      summary.sessionId = requiredText(item.end);
      return [];
    },
    summary: () => summary,
  };
}
