/**
 * What a conversion left out: `what` names it in the terms of the format that was read (an event type, a key, a content
 * part), `count` says how often, and `why` gives the reason. A conversion that loses nothing returns an empty list.
 */
export type Loss = { what: string; count: number; why: string };

export type LossTally = {
  add(what: string, why: string, count?: number): void;
  /** In the order in which each first occurred. */
  list(): Loss[];
};

export function tallyLosses(): LossTally {
  const losses = new Map<string, Loss>();
  return {
    add(what, why, count = 1) {
      if (count === 0) return;
      const key = JSON.stringify([what, why]);
      const known = losses.get(key);
      if (known) known.count += count;
      else losses.set(key, { what, count, why });
    },
    list: () => [...losses.values()].map((loss) => ({ ...loss })),
  };
}
