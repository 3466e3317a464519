import { ended, type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

const geminiName = (name: string): string => skill(name.replace(/^mcp_weather_/, 'mcp__weather__'));

export const stream: Read = (items) => {
  const result = items.findLast(({ type }) => type === 'result');
  // Reasoning is in the total only.
  const { input_tokens: input = 0, total_tokens: total = 0 } = result?.stats ?? {};
  return {
    calls: items
      .filter(({ type }) => type === 'tool_use')
      .map(({ tool_id, tool_name }) => `${tool_id} ${geminiName(tool_name)}`),
    texts: geminiTexts(items),
    tokens: { input, output: total - input },
    ending: result && ended(result.status === 'success'),
  };
};

/** Pieces of a message follow each other; what nothing follows was cut off. */
const geminiTexts = (items: Item[]): string[] => {
  const texts: string[] = [];
  let open = '';
  for (const { type, role, content } of items) {
    if (type === 'message' && role === 'assistant') open += content;
    else if (open !== '') {
      texts.push(open);
      open = '';
    }
  }
  return texts;
};

export const transcript: Read = (items) => {
  // A message is written again when its calls have ended.
  const messages: Item[] = [...new Map(items.filter(({ id }) => id).map((item) => [item.id, item])).values()].filter(
    ({ type }) => type === 'gemini',
  );
  return {
    calls: messages
      .flatMap(({ toolCalls }) => toolCalls ?? [])
      .map(({ id, name }) => `${id} ${geminiName(name)}`),
    texts: messages.map(({ content }) => content).filter((content) => typeof content === 'string' && content !== ''),
    tokens: {
      input: sum(messages.map(({ tokens }) => tokens?.input)),
      output: sum(messages.flatMap(({ tokens }) => [tokens?.output, tokens?.thoughts])),
    },
    ending: undefined,
  };
};
