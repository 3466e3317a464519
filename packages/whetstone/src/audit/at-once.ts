/** Calls `work` for each item, at most `jobs` at once. Resolves with the results in the order of the items. */
export async function atOnce<Item, Result>(
  items: readonly Item[],
  jobs: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}
