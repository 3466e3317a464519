import { type ColumnOf, MEBIBYTE, median, type Table, tableOf } from '../benchmark.ts';
import type { Loop } from './measure-rounds.ts';
import type { RunPublished } from './published.ts';
import type { RepeatUse } from './repeat-program.ts';

/** What a process grows by with each further conversation. A leak shows here, and what V8 takes only once does not. */
export async function repeatTable(
  loops: readonly Loop[],
  { rounds, times, runs, run }: { rounds: number; times: number; runs: number; run: RunPublished },
): Promise<Table> {
  const items = [];
  for (const { name, subject } of loops) {
    const uses: RepeatUse[] = [];
    for (let count = 0; count < runs; count += 1)
      uses.push(await run<RepeatUse>('repeat', [name, rounds, times]));
    const { heapBytes } = await run<RepeatUse>('repeat', [name, rounds, times], ['--expose-gc']);
    items.push({ subject, uses, heapBytes });
  }
  type Item = (typeof items)[number];
  const growth = (time: number, { uses }: Item) =>
    median(uses.map(({ growthBytes }) => growthBytes[time] ?? Number.NaN)) / MEBIBYTE;
  const heap = ({ heapBytes }: Item) =>
    ((heapBytes.at(-1) ?? Number.NaN) - (heapBytes[1] ?? Number.NaN)) / (times - 2) / MEBIBYTE;
  const columns = Array.from({ length: times }, (_, time): ColumnOf<Item> => {
    return [`${time + 1}.`, 'MiB', 1, (item) => growth(time, item)];
  });
  return tableOf(`RSS growth with each further ${rounds} rounds in the same process, ${runs} runs`, items, [
    ...columns,
    ['heap from the 2nd on, each', 'MiB', 2, heap],
  ]);
}
