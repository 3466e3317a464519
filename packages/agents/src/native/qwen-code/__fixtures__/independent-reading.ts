import { anthropicCalls, anthropicTexts, cutOff, ended, type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

export const stream: Read = (items) => {
  const result = items.findLast(({ type }) => type === 'result');
  return {
    calls: anthropicCalls(items),
    texts: [...anthropicTexts(items), ...cutOff(items)],
    // That of the result is the usage of the whole session.
    tokens: {
      input: sum(items.map(({ message }) => message?.usage?.input_tokens)),
      output: sum(items.map(({ message }) => message?.usage?.output_tokens)),
    },
    ending: result && ended(!result.is_error),
  };
};

export const transcript: Read = (items) => {
  const parts: Item[] = items.filter(({ type }) => type === 'assistant').flatMap(({ message }) => message.parts);
  const answers: Item[] = items
    .map(({ systemPayload }) => systemPayload?.uiEvent)
    .filter((event) => event?.['event.name'] === 'qwen-code.api_response');
  return {
    calls: parts
      .flatMap(({ functionCall }) => functionCall ?? [])
      .map(({ id, name, args }) => `${id} ${skill(name === 'tool_call' ? args.name : name)}`),
    texts: parts.filter(({ text, thought }) => text && !thought).map(({ text }) => text),
    tokens: {
      input: sum(answers.map(({ input_token_count }) => input_token_count)),
      output: sum(answers.map(({ output_token_count }) => output_token_count)),
    },
    ending: qwenEnding(items),
  };
};

const qwenEnding = (items: Item[]) => {
  const last = items.findLast(
    ({ type, systemPayload }) => type === 'assistant' || systemPayload?.uiEvent?.['event.name'] === 'qwen-code.api_error',
  );
  if (last?.type !== 'assistant') return last && 'failed';
  return last.message.parts.some(({ functionCall }: Item) => functionCall) ? undefined : 'completed';
};
