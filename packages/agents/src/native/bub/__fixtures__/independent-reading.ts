import { ended, type Item, type Read, skill, sum } from '../../__fixtures__/independent-reading.ts';

export const transcript: Read = (items) => {
  const runs: Item[] = items.filter(({ payload }) => payload?.name === 'run').map(({ payload }) => payload.data);
  const step = items.findLast(({ payload }) => payload?.name === 'loop.step')?.payload.data;
  return {
    calls: bubCalls(items),
    texts: items
      .filter(({ kind, payload }) => kind === 'message' && payload.role === 'assistant')
      .map(({ payload }) => payload.content),
    tokens: {
      input: sum(runs.map(({ usage }) => usage?.prompt_tokens)),
      output: sum(runs.map(({ usage }) => usage?.completion_tokens)),
    },
    ending: step && ended(step.status === 'ok'),
  };
};

/** Ids are those of the model, which may use one again. */
const bubCalls = (items: Item[]): string[] => {
  const seen = new Set<string>();
  return items
    .filter(({ kind }) => kind === 'tool_call')
    .flatMap(({ id: line, payload }) =>
      payload.calls.map(({ id, function: { name } }: Item, index: number) => {
        const isNew = !seen.has(id);
        seen.add(id);
        return `${isNew ? id : `${line}:${index}`} ${skill(name)}`;
      }),
    );
};
