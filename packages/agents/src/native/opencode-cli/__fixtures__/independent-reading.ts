import { type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

const openCodeName = (tool: string): string => skill(tool.replace(/^weather_/, 'mcp__weather__'));
const openCodeTokens = (steps: Item[]) => ({
  input: sum(steps.flatMap(({ tokens }) => [tokens.input, tokens.cache.read, tokens.cache.write])),
  output: sum(steps.flatMap(({ tokens }) => [tokens.output, tokens.reasoning])),
});

const openCodeParts = (parts: Item[]) => ({
  calls: parts.filter(({ type }) => type === 'tool').map(({ callID, tool }) => `${callID} ${openCodeName(tool)}`),
  texts: parts.filter(({ type, synthetic }) => type === 'text' && !synthetic).map(({ text }) => text),
  tokens: openCodeTokens(parts.filter(({ type }) => type === 'step-finish')),
});

export const stream: Read = (items) => {
  const parts: Item[] = items.flatMap(({ part }) => part ?? []);
  const last = items.findLast(({ type }) => type === 'step_finish' || type === 'error');
  return {
    ...openCodeParts(parts),
    ending: last && (last.type === 'error' ? 'failed' : last.part.reason === 'stop' ? 'completed' : undefined),
  };
};

export const transcript: Read = ([{ messages }]) => {
  const assistant: Item[] = messages.filter(({ info }: Item) => info.role === 'assistant');
  const { info } = assistant.at(-1) ?? {};
  const summaries = assistant.filter(({ info: { summary } }) => summary).flatMap(({ parts }) => parts);
  const parts: Item[] = assistant.flatMap(({ parts }) => parts);
  return {
    ...openCodeParts(parts.filter((part) => part.type !== 'text' || !summaries.includes(part))),
    ending: info?.error ? 'failed' : info?.finish === 'stop' ? 'completed' : undefined,
  };
};
