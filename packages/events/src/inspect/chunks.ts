import type { JsonValue } from '../json.ts';
import { logError } from './inspect-log-error.ts';

type Sequence = 'messages' | 'events' | 'attachments';

/** The entries of one chunked sample, without its shell. */
export type SampleChunks = {
  metadata: string | undefined;
  eventUuids: string | undefined;
  /**
   * The items of a sequence, with one chunk in memory at a time.
   * @throws {InspectLogError} `inspect-log-damaged` when a chunk is missing: each is named by the index of its first item.
   */
  items(sequence: Sequence, read: (name: string) => Promise<unknown>): AsyncGenerator<JsonValue>;
};

const CHUNK =
  /^(?<folder>(?<prefix>samples\/.+_epoch_\d+)\/(?:messages|events|attachments))\/(?<start>\d+)\.json$/;

/**
 * The chunked samples of an archive. Only the names of the entries show the layout; it has no version number (Inspect
 * `log/_recorders/chunked/format.py`). `samples` are by the name of the sample's shell,
 * `samples/{id}_epoch_{epoch}/sample.json`; `strays` are chunks of samples without a shell: the evaluation died while it
 * wrote them, or the log is damaged.
 */
export function indexChunks(names: readonly string[]) {
  const known = new Set(names);
  const starts = new Map<string, number[]>();
  const strays: string[] = [];
  for (const name of names) {
    const { folder, prefix, start } = CHUNK.exec(name)?.groups ?? {};
    if (folder === undefined) continue;
    if (!known.has(`${prefix}/sample.json`)) strays.push(name);
    starts.set(folder, [...(starts.get(folder) ?? []), Number(start)]);
  }
  const samples = new Map<string, SampleChunks>();
  for (const name of names) {
    const prefix = /^(?<prefix>samples\/.+_epoch_\d+)\/sample\.json$/.exec(name)?.groups?.prefix;
    if (prefix === undefined) continue;
    const optional = (entry: string) => (known.has(`${prefix}/${entry}`) ? `${prefix}/${entry}` : undefined);
    samples.set(name, {
      metadata: optional('metadata.json'),
      eventUuids: optional('events/uuids.json'),
      items: (sequence, read) => {
        const folder = `${prefix}/${sequence}`;
        return readSequence(folder, starts.get(folder) ?? [], read);
      },
    });
  }
  return { samples, strays };
}

async function* readSequence(
  folder: string,
  starts: readonly number[],
  read: (name: string) => Promise<unknown>,
): AsyncGenerator<JsonValue> {
  let count = 0;
  for (const start of starts.toSorted((a, b) => a - b)) {
    const name = `${folder}/${start}.json`;
    if (start !== count) {
      throw logError(
        'inspect-log-damaged',
        `The items from ${count} on are missing before this chunk.`,
        name,
      );
    }
    const items = await read(name);
    if (!Array.isArray(items)) throw logError('inspect-log-invalid', 'The chunk is not a list.', name);
    count += items.length;
    yield* items;
  }
}
