import { endingOfStop, type Item, type Read, skillsOf, sum } from '../../__fixtures__/independent-reading.ts';

const piReading = (messages: Item[], compactions: Item[]) => {
  const assistant: Item[] = messages.filter(({ role }) => role === 'assistant');
  const blocks: Item[] = assistant.flatMap(({ content }) => content);
  const usages: Item[] = [...assistant, ...compactions].flatMap(({ usage }) => usage ?? []);
  return {
    calls: [
      ...skillsOf(messages.filter(({ role }) => role === 'user').map(({ content }) => content[0]?.text)),
      ...blocks
        .filter(({ type }) => type === 'toolCall')
        .map(({ id, name, arguments: args }) => `${id} ${/SKILL\.md$/.test(args.path) ? 'load_skill' : name}`),
    ],
    texts: blocks.filter(({ type, text }) => type === 'text' && text !== '').map(({ text }) => text),
    tokens: {
      input: sum(usages.flatMap(({ input, cacheRead, cacheWrite }) => [input, cacheRead, cacheWrite])),
      output: sum(usages.map(({ output }) => output)),
    },
    ending: endingOfStop(assistant.at(-1), 'stop'),
  };
};

export const stream: Read = (items) => {
  const reading = piReading(
    items.filter(({ type }) => type === 'message_end').map(({ message }) => message),
    items.filter(({ type }) => type === 'compaction_end').map(({ result }) => result ?? {}),
  );
  const last = items.findLastIndex(({ type }) => type === 'message_end');
  const cutOff = items.slice(last + 1).map(({ assistantMessageEvent: event }) => (event?.type === 'text_delta' ? event.delta : ''));
  if (cutOff.join('') !== '') reading.texts.push(cutOff.join(''));
  return { ...reading, ending: items.some(({ type }) => type === 'agent_end') ? reading.ending : undefined };
};

export const transcript: Read = (items) =>
  piReading(
    items.filter(({ type }) => type === 'message').map(({ message }) => message),
    items.filter(({ type }) => type === 'compaction'),
  );
