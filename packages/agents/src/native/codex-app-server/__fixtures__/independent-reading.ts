import { ended, type Item, type Read, unique } from '../../__fixtures__/independent-reading.ts';

/** `item/started` and `item/completed` of the thread that was prompted, and its last count of tokens in this process. */
export const stream: Read = (items) => {
  const thread = items.find(({ result }) => result?.thread && result.model)?.result.thread.id;
  const own = items.filter(({ params }) => params?.threadId === thread);
  const reported = own.filter(({ method }) => /^item\/(started|completed)$/.test(method ?? ''));
  const totals = own.filter(({ method }) => method === 'thread/tokenUsage/updated').map(({ params }) => params);
  const begun = own.findIndex(({ method }) => method === 'turn/started');
  const before = own
    .slice(0, begun)
    .filter(({ method }) => method === 'thread/tokenUsage/updated')
    .at(-1)?.params.tokenUsage.total;
  const last = totals.at(-1)?.tokenUsage.total;
  const ending = own.find(({ method }) => method === 'turn/completed')?.params.turn.status;
  return {
    calls: unique(reported.map(({ params }) => params.item).flatMap(callOf)),
    texts: reported
      .filter(({ method, params }) => method === 'item/completed' && params.item.type === 'agentMessage')
      .map(({ params }) => params.item.text),
    tokens: {
      input: (last?.inputTokens ?? 0) - (before?.inputTokens ?? 0),
      output: (last?.outputTokens ?? 0) - (before?.outputTokens ?? 0),
    },
    ending: ending && ended(ending === 'completed'),
  };
};

const callOf = ({ id, type, server, tool }: Item): string[] => {
  if (type === 'mcpToolCall') return [`${id} mcp__${server}__${tool}`];
  if (type === 'enteredReviewMode') return ['review review'];
  const names: Record<string, string> = { commandExecution: 'command_execution', fileChange: 'apply_patch' };
  return names[type] ? [`${id} ${names[type]}`] : [];
};
