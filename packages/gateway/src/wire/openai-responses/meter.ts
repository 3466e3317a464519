import { isJsonObject, type JsonObject, type Usage } from '@whetstone/events';
import { objectAt, objectsAt, stringAt } from '../json-reading.ts';
import { type Metered, tokensAt, usageOf, type WireMeter } from '../metered.ts';

/**
 * Meters a response of the OpenAI Responses API. A stream has each item twice: when it is done, and in the final
 * response. Only the final response has the usage. When the stream is cut off, the items that were done still count.
 */
export function meterResponses(): WireMeter {
  let response: JsonObject = {};
  const done: JsonObject[] = [];
  let failed = false;

  return {
    read(data) {
      const type = stringAt(data, 'type');
      failed ||= type === 'error';
      if (type === 'response.output_item.done') {
        const item = objectAt(data, 'item');
        done.push({ type: stringAt(item, 'type'), name: stringAt(item, 'name') });
      } else if (isJsonObject(data.response)) response = data.response;
      else if (stringAt(data, 'object') === 'response') response = data;
      return data === response || type.endsWith('.delta') || type === 'response.output_item.done';
    },

    hasEnd: () => failed || !['', 'queued', 'in_progress'].includes(stringAt(response, 'status')),

    result() {
      const output = objectsAt(response, 'output');
      const toolCalls = toolCallNames(output.length > 0 ? output : done);
      return {
        model: stringAt(response, 'model') || null,
        usage: isJsonObject(response.usage) ? responsesUsage(response.usage) : null,
        finish: finish(response, toolCalls),
        toolCalls,
      };
    },
  };
}

function toolCallNames(items: JsonObject[]): string[] {
  return items.flatMap((item) => {
    const type = stringAt(item, 'type');
    if (type === 'local_shell_call') return ['local_shell'];
    return type === 'function_call' || type === 'custom_tool_call' ? [stringAt(item, 'name')] : [];
  });
}

/** OpenAI's `input_tokens` includes cached tokens, and `output_tokens` includes reasoning. */
function responsesUsage(usage: JsonObject): Usage | null {
  const input = tokensAt(usage, 'input_tokens');
  const cacheRead = tokensAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens');
  const cacheWrite = tokensAt(objectAt(usage, 'input_tokens_details'), 'cache_write_tokens');
  return usageOf({
    input: input && input - (cacheRead ?? 0) - (cacheWrite ?? 0),
    output: tokensAt(usage, 'output_tokens'),
    cacheRead,
    cacheWrite,
    reasoning: tokensAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens'),
  });
}

function finish(response: JsonObject, toolCalls: string[]): Metered['finish'] {
  switch (stringAt(response, 'status')) {
    case 'completed':
      return toolCalls.length > 0 ? 'tool-calls' : 'stop';
    case 'incomplete': {
      const reason = stringAt(objectAt(response, 'incomplete_details'), 'reason');
      if (reason === 'max_output_tokens') return 'length';
      return reason === 'content_filter' ? 'content-filter' : reason || 'incomplete';
    }
    case 'failed':
      return 'error';
    default:
      return null;
  }
}
