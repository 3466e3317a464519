import { ended, type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

const copilot = (items: Item[]) => ({
  calls: items
    .filter(({ type }) => type === 'tool.execution_start')
    .map(({ data: { toolCallId, toolName, mcpServerName: server } }) =>
      server ? `${toolCallId} mcp__${server}__${toolName.replace(`${server}-`, '')}` : `${toolCallId} ${skill(toolName)}`,
    ),
  texts: items
    .filter(({ type, data }) => type === 'assistant.message' && data.content)
    .map(({ data }) => data.content),
});

export const stream: Read = (items) => {
  const result = items.findLast(({ type }) => type === 'result');
  return {
    ...copilot(items),
    texts: [...copilot(items).texts, ...copilotCutOff(items)],
    // It says nothing of them.
    tokens: { input: 0, output: 0 },
    ending: isAborted(items) ? 'failed' : result && ended(result.exitCode === 0),
  };
};

/** Pieces of messages that never came whole. */
const copilotCutOff = (items: Item[]): string[] => {
  const whole = items.filter(({ type }) => type === 'assistant.message').map(({ data }) => data.messageId);
  const pieces = items.filter(({ type, data }) => type === 'assistant.message_delta' && !whole.includes(data.messageId));
  return pieces.length === 0 ? [] : [pieces.map(({ data }) => data.deltaContent).join('')];
};

const isAborted = (items: Item[]) => items.findLast(({ type }) => type === 'abort' || type === 'user.message')?.type === 'abort';

export const transcript: Read = (items) => {
  const usages: Item[] = items.flatMap(({ data }) => data?.usage ?? data?.compactionTokensUsed ?? []);
  const last = items.findLast(({ type }) => /^(assistant\.message|session\.error)$/.test(type));
  return {
    ...copilot(items),
    tokens: {
      input: sum(usages.map(({ inputTokens }) => inputTokens)),
      output: sum(usages.map(({ outputTokens }) => outputTokens)),
    },
    ending: isAborted(items) ? 'failed' : last && ended(last.type === 'assistant.message'),
  };
};
