import { type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

/** The last state of each part is what it came to; a user's message is a prompt. */
export const stream: Read = (items) => {
  const prompts = items.flatMap(({ type, properties }) =>
    type === 'message.updated' && properties.info.role === 'user' ? properties.info.id : [],
  );
  const updated: Item[] = items.flatMap(({ type, properties }) => (type === 'message.part.updated' ? properties.part : []));
  const parts = [...new Map(updated.map((part) => [part.id, part])).values()].filter(
    ({ messageID }) => !prompts.includes(messageID),
  );
  const steps = parts.filter(({ type }) => type === 'step-finish');
  const idle = items.some(({ type }) => type === 'session.idle');
  return {
    calls: parts.filter(({ type }) => type === 'tool').map(({ callID, tool }) => `${callID} ${skill(tool)}`),
    texts: parts.filter(({ type }) => type === 'text').map(({ text }) => text),
    tokens: {
      input: sum(steps.flatMap(({ tokens }) => [tokens.input, tokens.cache.read, tokens.cache.write])),
      output: sum(steps.flatMap(({ tokens }) => [tokens.output, tokens.reasoning])),
    },
    ending: items.some(({ type }) => type === 'session.error') ? 'failed' : idle ? 'completed' : undefined,
  };
};
