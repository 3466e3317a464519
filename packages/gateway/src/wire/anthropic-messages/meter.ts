import { isJsonObject, type JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectAt, objectsAt, stringAt } from '../json-reading.ts';
import { type Metered, tokensAt, usageOf, type WireMeter } from '../metered.ts';

/**
 * Meters a response of the Anthropic Messages API. A stream reports usage at its start and again at its end, and every
 * report is the total so far. So the largest value of each count is right, and their sum is wrong. The output at the start
 * is a token or two: when the stream is cut off before its end, nobody knows how much there was.
 */
export function meterMessages(): WireMeter {
  let model = '';
  let stopReason = '';
  let failed = false;
  let hasTotals = false;
  let hasEnd = false;
  const toolCalls: string[] = [];
  const totals = new Map<string, number>();
  let iterations: JsonObject[] = [];

  function readUsage(usage: JsonObject): void {
    const counted = {
      ...usage,
      ...objectAt(usage, 'cache_creation'),
      ...objectAt(usage, 'output_tokens_details'),
    };
    for (const name of counts) {
      const count = tokensAt(counted, name);
      if (count !== undefined) totals.set(name, Math.max(count, totals.get(name) ?? 0));
    }
    const reported = objectsAt(usage, 'iterations');
    if (reported.length > 0) iterations = reported;
  }

  function readMessage(message: JsonObject): void {
    model = stringAt(message, 'model') || model;
    stopReason = stringAt(message, 'stop_reason') || stopReason;
    for (const block of objectsAt(message, 'content')) readBlock(block);
    if (isJsonObject(message.usage)) readUsage(message.usage);
  }

  function readBlock(block: JsonObject): void {
    if (stringAt(block, 'type') === 'tool_use') toolCalls.push(stringAt(block, 'name'));
  }

  return {
    read(data) {
      switch (stringAt(data, 'type')) {
        case 'message':
          hasTotals = true;
          readMessage(data);
          return true;
        case 'message_start':
          readMessage(objectAt(data, 'message'));
          return false;
        case 'content_block_start':
          readBlock(objectAt(data, 'content_block'));
          return true;
        case 'message_delta':
          stopReason = stringAt(objectAt(data, 'delta'), 'stop_reason') || stopReason;
          readUsage(objectAt(data, 'usage'));
          hasTotals = true;
          return false;
        case 'message_stop':
          hasEnd = true;
          return false;
        case 'error':
          failed = true;
          hasTotals = true;
          hasEnd = true;
          return false;
        default:
          return stringAt(data, 'type') === 'content_block_delta';
      }
    },

    hasEnd: () => hasEnd,

    result: () => ({
      model: model || null,
      ...(hasTotals ? messagesUsage(totals, iterations) : { usage: null }),
      finish: failed ? 'error' : (finishes[stopReason] ?? (stopReason || null)),
      toolCalls,
    }),
  };
}

const counts = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'ephemeral_1h_input_tokens',
  'thinking_tokens',
];

const finishes: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content-filter',
};

function messagesUsage(
  totals: ReadonlyMap<string, number>,
  iterations: JsonObject[],
): Pick<Metered, 'usage' | 'cacheWrite1hTokens'> {
  if (totals.size === 0) return { usage: null };
  // After a compaction the top-level counts do not include its tokens, but the iterations have all of them. An advisor's
  // tokens are another model's. After a fallback the top level is the answer that was served.
  const own = iterations.filter((each) => ['message', 'compaction'].includes(stringAt(each, 'type')));
  const whole = iterations.every((each) => stringAt(each, 'type') !== 'fallback_message') ? own : [];
  const total = (name: string): number | undefined =>
    whole.length > 0 && whole.every((each) => tokensAt(each, name) !== undefined)
      ? whole.reduce((sum, each) => sum + (tokensAt(each, name) ?? 0), 0)
      : totals.get(name);
  const oneHour = totals.get('ephemeral_1h_input_tokens');
  return {
    usage: usageOf({
      input: total('input_tokens'),
      output: total('output_tokens'),
      cacheRead: total('cache_read_input_tokens'),
      cacheWrite: total('cache_creation_input_tokens'),
      reasoning: totals.get('thinking_tokens'),
    }),
    ...present({ cacheWrite1hTokens: oneHour }),
  };
}
