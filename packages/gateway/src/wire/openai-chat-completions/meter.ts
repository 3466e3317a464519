import { isJsonObject, type JsonObject, type Usage } from '@whetstone/events';
import { objectAt, objectsAt, stringAt } from '../json-reading.ts';
import { tokensAt, usageOf, type WireMeter } from '../metered.ts';

/**
 * Meters a response of the OpenAI Chat Completions API and of the many providers that speak it. Usage may be in a chunk
 * of its own, in the last choice, or in every chunk as the total so far. The last one counts, never the sum. The total so
 * far of a stream that is cut off does not count: nobody knows how much came after it.
 */
export function meterChatCompletions(): WireMeter {
  let model = '';
  let usage: JsonObject | undefined;
  let finishReason = '';
  let hasEnd = false;
  const names: string[] = [];
  /** The ids of the calls so far by the index in their chunks, which some providers leave out or set to 0 for all calls. */
  const idAt = new Map<number, string>();

  function readCalls(calls: JsonObject[]): void {
    for (const [position, call] of calls.entries()) {
      const index = typeof call.index === 'number' ? call.index : position;
      const name = stringAt(objectAt(call, 'function'), 'name') || stringAt(objectAt(call, 'custom'), 'name');
      if (name === '') continue;
      const id = stringAt(call, 'id');
      const known = idAt.get(index);
      // Some providers repeat the name, with or without the id, in each chunk of a call.
      if (known !== undefined && (id === '' || id === known)) continue;
      idAt.set(index, id);
      names.push(name);
    }
  }

  return {
    read(data) {
      model = stringAt(data, 'model') || model;
      if (isJsonObject(data.usage)) usage = data.usage;
      let said = false;
      const choices = objectsAt(data, 'choices');
      // A chunk of its own for the usage comes after the last choice.
      hasEnd ||= isJsonObject(data.error) || (choices.length === 0 && isJsonObject(data.usage));
      for (const choice of choices) {
        if (isJsonObject(choice.usage)) usage ??= choice.usage;
        finishReason = stringAt(choice, 'finish_reason') || finishReason;
        hasEnd ||= finishReason !== '' || isJsonObject(choice.error);
        const part = { ...objectAt(choice, 'message'), ...objectAt(choice, 'delta') };
        const calls = objectsAt(part, 'tool_calls');
        readCalls(calls);
        said ||= calls.length > 0 || saidFields.some((field) => stringAt(part, field) !== '');
      }
      return said;
    },

    done() {
      hasEnd = true;
    },

    hasEnd: () => hasEnd,

    result: () => ({
      model: model || null,
      usage: usage && hasEnd ? chatUsage(usage) : null,
      finish: finishes[finishReason] ?? (finishReason || null),
      toolCalls: names,
    }),
  };
}

const saidFields = ['content', 'reasoning_content', 'reasoning', 'refusal'];

const finishes: Record<string, string> = {
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/**
 * `prompt_tokens` includes cached tokens (DeepSeek reports them under other names), and `completion_tokens` includes
 * reasoning, except at xAI, where the total shows that reasoning is not included.
 */
function chatUsage(usage: JsonObject): Usage | null {
  const details = objectAt(usage, 'prompt_tokens_details');
  const prompt = tokensAt(usage, 'prompt_tokens');
  const completion = tokensAt(usage, 'completion_tokens');
  const cacheRead = tokensAt(details, 'cached_tokens') ?? tokensAt(usage, 'prompt_cache_hit_tokens');
  const cacheWrite =
    tokensAt(details, 'cache_write_tokens') ?? tokensAt(details, 'cache_creation_input_tokens');
  const reasoning = tokensAt(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens');
  const withReasoning = (completion ?? 0) + (reasoning ?? 0);
  const isOnTop = (reasoning ?? 0) > 0 && tokensAt(usage, 'total_tokens') === (prompt ?? 0) + withReasoning;
  return usageOf({
    input: prompt && prompt - (cacheRead ?? 0) - (cacheWrite ?? 0),
    output: completion === undefined || !isOnTop ? completion : withReasoning,
    cacheRead,
    cacheWrite,
    reasoning,
  });
}
