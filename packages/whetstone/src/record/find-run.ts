import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { runLayout } from './layout.ts';
import { isAbsent, notARun, type ReadRun, readRun, unreadable } from './read-run.ts';
import { isTag, readTags } from './tags.ts';

/**
 * Finds a run by its path, or below `outputDirectory` by its id, a unique beginning of it, a tag, or `latest`.
 * @throws WhetstoneError `run-not-found`, with the ids of the runs that are there.
 */
export async function findRun(reference: string, outputDirectory: string): Promise<string> {
  const asPath = resolve(reference);
  if (await isFile(runLayout(asPath).manifest)) return asPath;
  const ids = await runIds(outputDirectory);
  const matches =
    reference === 'latest' ? ids.slice(-1) : ids.filter((id) => id === reference || id.startsWith(reference));
  const [match] = matches;
  if (matches.length === 1 && match !== undefined) return join(outputDirectory, match);
  const tagged =
    matches.length === 0 && isTag(reference) ? await findTag(reference, outputDirectory) : undefined;
  if (tagged !== undefined) return tagged;
  const message =
    matches.length > 1
      ? `${reference} is the beginning of ${matches.length} run ids: ${matches.join(', ')}.`
      : (await isFolder(asPath))
        ? notARun(asPath)
        : `There is no run ${reference} in ${outputDirectory}.`;
  const start =
    'Start one with: whetstone run -c whetstone.yaml. A run is named by its path, or there by its id, the beginning of one, a tag, or "latest".';
  const meant = matches.length === 0 ? didYouMean(reference, ['latest', ...ids]) : undefined;
  const there = `${meant === undefined ? '' : `Did you mean ${meant}? `}Runs there: ${ids.slice(-5).join(', ')}.`;
  const hint = ids.length > 0 ? there : start;
  throw new WhetstoneError('run-not-found', message, { hint });
}

/** The newest run below an output directory with a tag. Unreadable tags are those of no run. */
export async function findTag(tag: string, outputDirectory: string): Promise<string | undefined> {
  for (const id of (await runIds(outputDirectory)).toReversed()) {
    const directory = join(outputDirectory, id);
    const { tags } = await readTags(directory).catch(() => ({ tags: [] as string[] }));
    if (tags.includes(tag)) return directory;
  }
  return undefined;
}

/** The newest runs below an output directory that can be read, the oldest first. `newest`: how many; default all. */
export async function* readRuns(
  outputDirectory: string,
  { newest = Number.POSITIVE_INFINITY }: { newest?: number } = {},
): AsyncGenerator<ReadRun, void, undefined> {
  for (const id of (await runIds(outputDirectory)).slice(-newest)) {
    const run = await readRun(join(outputDirectory, id)).catch(() => undefined);
    if (run) yield run;
  }
}

/** Ids of the runs below an output directory, the oldest first. A folder without a manifest is not a run. */
async function runIds(outputDirectory: string): Promise<string[]> {
  const names = await readdir(outputDirectory).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw unreadable(outputDirectory, error);
  });
  const runs = await Promise.all(
    names.map(async (name) => {
      const directory = join(outputDirectory, name);
      return (await isFile(runLayout(directory).manifest))
        ? { name, made: await madeAt(directory) }
        : undefined;
    }),
  );
  return runs
    .filter((run) => run !== undefined)
    .sort((a, b) => secondOf(a.name).localeCompare(secondOf(b.name), 'en') || a.made - b.made)
    .map(({ name }) => name);
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() === true;

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

/** The time in an id, which has seconds: two runs of one second differ only in when their directories were made. */
const secondOf = (id: string): string => id.slice(0, 'YYYYMMDD-HHMMSS'.length);

const madeAt = async (directory: string): Promise<number> => (await stat(directory)).birthtimeMs;
