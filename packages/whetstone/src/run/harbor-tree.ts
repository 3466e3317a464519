import { execFile } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';

/** What a job collected from the container of a trial: an entry of `artifacts/manifest.json`. */
const entrySchema = z.looseObject({
  /** Where it was in the container. */
  source: z.string(),
  /** Where it is in the folder of the trial. */
  destination: z.string().nullish(),
  type: z.string().nullish(),
  status: z.string().nullish(),
  /** The container, where it is not that of the agent. */
  service: z.string().nullish(),
  exclude: z.array(z.string()).nullish(),
});
type Entry = z.infer<typeof entrySchema>;
const fileSchema = z.union([z.array(entrySchema), z.looseObject({ entries: z.array(entrySchema) })]);

/** The tree that an agent left in a trial: a folder or an archive of its content. `missing`: why there is none. */
export type HarborTree =
  | { path: string; isArchive: boolean; leavesOut: readonly string[] }
  | { missing: string };

/** What a trial collected from the container of its agent. Empty: nothing. @throws WhetstoneError `import-invalid` */
export function readArtifacts(trial: string): Entry[] {
  const file = join(trial, 'artifacts', 'manifest.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw new WhetstoneError('import-invalid', 'This is not a list of collected files.', { where: file });
  const entries = Array.isArray(parsed.data) ? parsed.data : parsed.data.entries;
  return entries.filter(({ service }) => service == null);
}

/** The folders of the container that trials collected, besides those of logs. */
export function collectedFolders(trials: readonly Entry[][]): string[] {
  const folders = trials
    .flat()
    .filter(({ type, source }) => type === 'directory' && !isBelow(plain(source), '/logs'))
    .map(({ source }) => plain(source));
  return [...new Set(folders)].sort();
}

/** The tree of a trial. `source`: where it was in the container, a folder or an archive. */
export function findTree(trial: string, entries: readonly Entry[], source: string): HarborTree {
  const wanted = plain(source);
  const [entry] = entries
    .filter((one) => isBelow(wanted, plain(one.source)))
    .sort((a, b) => b.source.length - a.source.length);
  if (!entry) return { missing: `the job did not collect ${wanted} of this trial` };
  if (entry.destination == null || (entry.status != null && entry.status !== 'ok'))
    return {
      missing: `the job could not collect ${wanted} of this trial (${entry.status ?? 'no destination'})`,
    };
  const inside = relative(plain(entry.source), wanted);
  const path = resolve(trial, entry.destination, inside);
  const found = isOfTrial(path, trial) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
  const isArchive = found?.isFile() === true && /\.(?:tar|tgz|tar\.(?:gz|bz2|xz|zst))$/.test(path);
  if (!found?.isDirectory() && !isArchive)
    return { missing: `${wanted} of this trial is neither a folder nor an archive (.tar, .tar.gz)` };
  return { path, isArchive, leavesOut: entry.exclude ?? [] };
}

const plain = (path: string): string => path.replace(/(?<=.)\/+$/, '');

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** An agent can have left a link in what was collected, which leads out of the trial. */
function isOfTrial(path: string, trial: string): boolean {
  try {
    return realpathSync(dirname(path)).startsWith(realpathSync(trial) + sep);
  } catch {
    return false;
  }
}

/** Makes the folder of an archive in `scratch`. Resolves with it. @throws WhetstoneError `import-invalid` */
export async function unpackTree(archive: string, scratch: string): Promise<string> {
  const folder = mkdtempSync(join(scratch, 'tree-'));
  const how = ['--extract', '--no-same-owner', '--no-same-permissions', '--file', archive, '-C', folder];
  await promisify(execFile)('tar', how).catch((cause: unknown) => {
    const why = messageOf(cause).trim().split('\n').at(-1) ?? '';
    throw new WhetstoneError('import-invalid', `The archive cannot be read: ${why}`, {
      where: archive,
      cause,
    });
  });
  return folder;
}

/**
 * Whether a job left a path out of what it collected, by patterns as `tar --exclude` has them: of a whole path or of its end,
 * for a file or a folder above it.
 */
export function isLeftOut(path: string, patterns: readonly string[]): boolean {
  const parts = path.split('/');
  const names = parts.flatMap((_, end) =>
    Array.from({ length: end + 1 }, (__, start) => parts.slice(start, end + 1).join('/')),
  );
  const expressions = patterns.map((pattern) => {
    const signs = pattern.replace(/^\.?\/+|\/+$/g, '').replace(/[.+^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`^${signs.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
  });
  return names.some((name) => expressions.some((expression) => expression.test(name)));
}
