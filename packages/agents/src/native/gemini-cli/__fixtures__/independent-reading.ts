import { ended, type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

const geminiName = (name: string): string => skill(name.replace(/^mcp_weather_/, 'mcp__weather__'));

export const stream: Read = (items) => {
  if (items.length === 1 && items[0].stats) return document(items[0]);
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

/** The output format `json`. */
const document = ({ response, stats, error }: Item) => {
  const tokens: Item[] = Object.values(stats.models).map((model: Item) => model.tokens);
  return {
    calls: [],
    texts: [response],
    tokens: {
      input: sum(tokens.map(({ prompt }) => prompt)),
      output: sum(tokens.flatMap(({ candidates, thoughts }) => [candidates, thoughts])),
    },
    ending: ended(!error),
  };
};

/** Pieces of a message follow each other. */
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
  return open === '' ? texts : [...texts, open];
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
