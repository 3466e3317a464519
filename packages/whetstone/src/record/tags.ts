import { readFile } from 'node:fs/promises';
import { WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';
import { runLayout } from './layout.ts';
import { isAbsent, unreadable } from './read-run.ts';

/** `tags.json`: the names that a person gave to a run, and a note about it. It is not part of the result. */
const tagsSchema = z.object({ tags: z.array(z.string()), note: z.string().nullable() });

export type RunTags = z.infer<typeof tagsSchema>;

/** Whether a text can be a tag: one word that cannot be a path, the id of a run or an arm of one. */
export const isTag = (text: string): boolean => /^[A-Za-z][\w.-]{0,63}$/.test(text) && text !== 'latest';

/**
 * The tags of a run and its note; none where nobody gave any.
 * @throws WhetstoneError `run-unreadable`.
 */
export async function readTags(directory: string): Promise<RunTags> {
  const { tags } = runLayout(directory);
  const text = await readFile(tags, 'utf8').catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw unreadable(tags, error);
  });
  if (text === undefined) return { tags: [], note: null };
  const parsed = tagsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const message = 'The tags and the note of the run cannot be read.';
  throw new WhetstoneError('run-unreadable', message, { where: tags, cause: parsed.error });
}
