import { type Item, type Read, sum } from '../../__fixtures__/independent-reading.ts';

/** JSON-RPC messages: the second session of a process is not recorded, so the first answers say where the turn begins. */
export const stream: Read = (items) => {
  const loaded = items.findIndex(({ id }) => /^_whetstone|^session\/(new|resume)/.test(id ?? ''));
  const turn = items.slice(loaded);
  const updates: Item[] = turn.flatMap(({ params }) => params?.update ?? []);
  const answer = items.find(({ id }) => /^session\/prompt/.test(id ?? ''));
  const agent: string = items[0].result.agentInfo.name;
  const calls = new Map<string, string>();
  for (const { params } of turn) {
    const call: Item = params?.toolCall ?? params?.update;
    const isOn = params?.toolCall || ['in_progress', 'completed', 'failed'].includes(call?.status);
    if (call?.toolCallId && isOn && !calls.has(call.toolCallId)) {
      const own: string | undefined = call._meta?.toolName ?? call.toolCallId.match(/^(\w+)__/)?.[1];
      const kind: string = turn.flatMap((item) => [item.params?.update ?? item.params?.toolCall ?? []].flat())
        .find(({ toolCallId, kind }: Item) => toolCallId === call.toolCallId && kind)?.kind;
      calls.set(call.toolCallId, kind === 'execute' ? 'shell' : (own ?? kind));
    }
  }
  const perCall: Item[] = updates.flatMap(({ _meta }) => _meta?.usage ?? []);
  const quota: Item[] = answer?.result?._meta?.quota?.model_usage?.map(({ token_count }: Item) => token_count) ?? [];
  const whole: Item[] = agent === 'OpenCode' || !answer?.result?.usage ? [] : [answer.result.usage];
  const usages = [...perCall, ...quota, ...whole];
  return {
    calls: [...calls].map(([id, name]) => `${id} ${name}`),
    texts: textsOf(turn),
    tokens: {
      input: sum(usages.map(({ inputTokens, input_tokens }) => inputTokens ?? input_tokens)),
      output: sum(usages.map(({ outputTokens, output_tokens }) => outputTokens ?? output_tokens)),
    },
    ending: answer && (answer.result?.stopReason === 'end_turn' ? 'completed' : 'failed'),
  };
};

/** Pieces that follow each other are one message; a call ends it. */
function textsOf(turn: Item[]): string[] {
  const texts = [''];
  for (const { params } of turn) {
    const update: Item = params?.update;
    if (update?.sessionUpdate === 'agent_message_chunk') texts[texts.length - 1] += update.content.text;
    if (update?.toolCallId || params?.toolCall) texts.push('');
  }
  return texts.filter((text) => text !== '');
}
