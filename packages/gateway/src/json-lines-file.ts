import type { FileHandle } from 'node:fs/promises';

/** Keeps secrets out of a text. What it puts in their place must fit into a JSON string. */
export type MaskText = (text: string) => string;

/** Appends values to a file as JSON lines, one write after the other, so that lines stay whole and in order. */
export function jsonLinesFile<Line>(
  file: FileHandle,
  {
    unwritable,
    mask = (text) => text,
  }: { unwritable: (cause: unknown) => Error; mask?: MaskText | undefined },
) {
  let writing = Promise.resolve();
  let failure: unknown;
  return {
    /** Never throws: an error of the file is kept for `close`. */
    append(line: Line): void {
      writing = writing
        .then(() => file.appendFile(`${mask(JSON.stringify(line))}\n`))
        .catch((error: unknown) => {
          failure ??= error;
        });
    },
    /** Waits until every line is written. Rejects with `unwritable` when one could not be. */
    async close(): Promise<void> {
      await writing;
      await file.close();
      if (failure) throw unwritable(failure);
    },
  };
}
