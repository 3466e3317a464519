/**
 * What a conversion left out: `what` names it in the terms of the format that was read (an event type, a key, a content
 * part), `count` says how often, and `why` gives the reason. A conversion that loses nothing returns an empty list.
 */
export type Loss = { what: string; count: number; why: string };

export type LossTally = ReturnType<typeof tallyLosses>;

export function tallyLosses() {
  const losses = new Map<string, Loss>();
  return {
    add(what: string, why: string, count = 1): void {
      if (count === 0) return;
      const key = JSON.stringify([what, why]);
      const known = losses.get(key);
      if (known) known.count += count;
      else losses.set(key, { what, count, why });
    },
    /** In the order in which each first occurred. */
    list: (): Loss[] => [...losses.values()].map((loss) => ({ ...loss })),
  };
}
