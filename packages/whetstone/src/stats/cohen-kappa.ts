import { clipInterval, type Interval } from './interval.ts';
import { normalQuantile } from './normal.ts';

export type Kappa = {
  /** How much more often the two agree than by chance: 1 always, 0 as often as by chance. `null`: only one label occurs. */
  kappa: number | null;
  /** Share of items with the same label. */
  observed: number;
  /** Share that is expected by chance, from how often each of the two gives each label. */
  expected: number;
  count: number;
  /** `null` where the spread cannot be estimated: all items agree, or only one label occurs. */
  interval: Interval | null;
};

/**
 * Cohen's kappa of two raters, with the large-sample interval of Fleiss, Cohen and Everitt (1969). Each pair has the two
 * labels of one item.
 * @throws RangeError without pairs
 */
export function cohenKappa(pairs: readonly (readonly [string, string])[], level = 0.95): Kappa {
  const count = pairs.length;
  if (count === 0) throw new RangeError('no item has two labels');
  const labels = [...new Set(pairs.flat())];
  const share = (isCounted: (pair: readonly [string, string]) => boolean): number =>
    pairs.filter(isCounted).length / count;
  const byFirst = new Map(labels.map((label) => [label, share(([first]) => first === label)]));
  const bySecond = new Map(labels.map((label) => [label, share(([, second]) => second === label)]));
  const firstOf = (label: string) => byFirst.get(label) ?? 0;
  const secondOf = (label: string) => bySecond.get(label) ?? 0;
  const observed = share(([first, second]) => first === second);
  const expected = sum(labels.map((label) => firstOf(label) * secondOf(label)));
  const base = { observed, expected, count };
  if (expected === 1) return { kappa: null, ...base, interval: null };
  const kappa = (observed - expected) / (1 - expected);

  const agreeing = sum(
    labels.map((label) => {
      const both = share(([first, second]) => first === label && second === label);
      return both * (1 - expected - (firstOf(label) + secondOf(label)) * (1 - observed)) ** 2;
    }),
  );
  const disagreeing = sum(
    pairs.map(([first, second]) => (first === second ? 0 : (secondOf(first) + firstOf(second)) ** 2 / count)),
  );
  const variance =
    (agreeing + (1 - observed) ** 2 * disagreeing - (observed * expected - 2 * expected + observed) ** 2) /
    (count * (1 - expected) ** 4);
  if (!(variance > Number.EPSILON)) return { kappa, ...base, interval: null };
  const margin = normalQuantile((1 + level) / 2) * Math.sqrt(variance);
  const interval = { low: kappa - margin, high: kappa + margin, level, method: 'Fleiss, Cohen and Everitt' };
  return { kappa, ...base, interval: clipInterval(interval, -1, 1) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
