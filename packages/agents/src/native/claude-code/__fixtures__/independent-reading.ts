import { anthropicCalls, anthropicTexts, cutOff, ended, endingOfStop, type Item, type Read, sum, unique } from '../../__fixtures__/independent-reading.ts';

export const stream: Read = (items) => {
  const results = items.filter(({ type }) => type === 'result');
  const models: Item[] = results.flatMap((result) => Object.values(result.model_usage_since_last_result ?? result.modelUsage));
  return {
    calls: unique(anthropicCalls(items)),
    // The output format `json` is only the result.
    texts: items[0]?.type === 'result' ? [items[0].result] : [...anthropicTexts(items), ...cutOff(items)],
    tokens: results.length === 0 ? streamedTokens(items) : {
      input: sum(models.flatMap((m) => [m.inputTokens, m.cacheReadInputTokens, m.cacheCreationInputTokens])),
      output: sum(models.map(({ outputTokens }) => outputTokens)),
    },
    ending: results.length === 0 ? undefined : claudeEnding(results.at(-1)),
  };
};

/** Of the messages that ended, before a result. */
const streamedTokens = (items: Item[]) => {
  const usages: Item[] = [];
  let usage: Item = {};
  for (const { event } of items.filter(({ type }) => type === 'stream_event')) {
    if (event.type === 'message_start') usage = event.message.usage;
    if (event.type === 'message_delta') usage = { ...usage, ...event.usage };
    if (event.type === 'message_stop') usages.push(usage);
  }
  return {
    input: sum(usages.flatMap((u) => [u.input_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens])),
    output: sum(usages.map(({ output_tokens }) => output_tokens)),
  };
};

const claudeEnding = ({ terminal_reason, is_error, subtype }: Item) =>
  terminal_reason === 'tool_deferred' ? 'waiting' : ended(!is_error && subtype === 'success');

export const transcript: Read = (items) => {
  const messages = new Map(
    items.filter(({ type }) => type === 'assistant').map(({ message }) => [message.id, message.usage]),
  );
  const usages = [...messages.values()];
  return {
    calls: unique(anthropicCalls(items)),
    texts: anthropicTexts(items),
    tokens: {
      input: sum(usages.flatMap((u) => [u.input_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens])),
      output: sum(usages.map(({ output_tokens }) => output_tokens)),
    },
    ending: endingOfStop(items.findLast(({ type }) => type === 'assistant')?.message, 'end_turn'),
  };
};
