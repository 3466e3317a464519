import { ended, type Item, type Read, skill, skillsOf, sum, unique } from '../../__fixtures__/independent-reading.ts';

export const stream: Read = (items) => {
  const started: Item[] = items.filter(({ type }) => /^item\.(started|completed)$/.test(type)).map(({ item }) => item);
  const usages: Item[] = items.filter(({ type }) => type === 'turn.completed').map(({ usage }) => usage);
  const last = items.findLast(({ type }) => /^turn\.(completed|failed)$/.test(type));
  return {
    calls: unique(
      started.flatMap(({ id, type, server, tool, command }) => {
        if (type === 'command_execution') {
          const [, name] = /skills\/([\w-]+)\/SKILL\.md/.exec(command) ?? [];
          return [`${id} ${type}`, ...(name ? [`${id}/skill load_skill`] : [])];
        }
        if (type === 'file_change') return `${id} apply_patch`;
        if (type === 'mcp_tool_call') return `${id} mcp__${server}__${tool}`;
        return type === 'web_search' || type === 'collab_tool_call' ? `${id} ${tool ?? type}` : [];
      }),
    ),
    texts: items
      .filter(({ type, item }) => type === 'item.completed' && item.type === 'agent_message')
      .map(({ item }) => item.text),
    tokens: {
      input: sum(usages.map(({ input_tokens }) => input_tokens)),
      output: sum(usages.map(({ output_tokens }) => output_tokens)),
    },
    ending: last && ended(last.type === 'turn.completed'),
  };
};

export const transcript: Read = (all) => {
  const { id, forked_from_id: forked } = all.find(({ type }) => type === 'session_meta')?.payload ?? {};
  // A fork begins with a copy of its parent.
  const items = forked ? all.slice(all.findIndex(({ payload }) => payload.thread_id === id)) : all;
  const payloads: Item[] = items.filter(({ type }) => type === 'response_item').map(({ payload }) => payload);
  const usages: Item[] = items.filter(({ type }) => type === 'token_usage_record').map(({ payload }) => payload.usage);
  const summaries = items.filter(({ type }) => type === 'compacted').map(({ payload }) => payload.message);
  const contentOf = ({ content }: Item) => content.map(({ text }: Item) => text).join('');
  const messagesOf = (role: string) => payloads.filter((payload) => payload.type === 'message' && payload.role === role);
  return {
    calls: [
      ...skillsOf(messagesOf('user').map(contentOf)),
      ...items.flatMap(({ payload: { type, call_id, name, namespace, item, arguments: args } }) => {
        if (/^(function|custom_tool)_call$/.test(type)) {
          const [, skillName] = /skills\/([\w-]+)\/SKILL\.md/.exec(args) ?? [];
          const called = `${call_id} ${namespace?.startsWith('mcp__') ? `${namespace}__${name}` : name}`;
          return [called, ...(skillName ? [`${call_id}/skill load_skill`] : [])];
        }
        return item?.id?.startsWith('exec-') ? `${item.id} ${codexItemName(item)}` : [];
      }),
    ],
    texts: messagesOf('assistant')
      .map(contentOf)
      .filter((text) => !summaries.includes(text)),
    tokens: {
      input: sum(usages.map(({ input_tokens }) => input_tokens)),
      output: sum(usages.map(({ output_tokens }) => output_tokens)),
    },
    ending: codexEnding(items),
  };
};

/** What a call of code mode did. */
const codexItemName = ({ type, server, tool }: Item) =>
  ({ FileChange: 'apply_patch', CommandExecution: 'command_execution', McpToolCall: `mcp__${server}__${tool}` })[
    type as 'FileChange'
  ];

/** Of the last turn in which a model answered or an error was met. */
const codexEnding = (items: Item[]) => {
  const answered = new Set(items.filter(({ type }) => type === 'token_usage_record').map(({ payload }) => payload.turn_id));
  const last = items.findLast(
    ({ payload: { type, turn_id, error } }) => /^(task_complete|turn_aborted)$/.test(type) && (error || answered.has(turn_id)),
  );
  return last && ended(last.payload.type === 'task_complete' && !last.payload.error);
};
