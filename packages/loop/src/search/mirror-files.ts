import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { messageOf } from '@whetstone/errors';
import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { fileFilter, type SearchQuery, type SkippedFile } from './text-search.ts';
import { walkFiles } from './walk-files.ts';

/** A larger file is not brought over for a search. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Files of an environment, brought to this machine. `skipped` has those that were not. */
export type Mirror = AsyncDisposable & { folder: string; skipped: SkippedFile[] };

/** Brings the files over that a search may look at. They are removed with the scope. */
export async function mirrorFiles(
  environment: ExecutionEnvironment,
  root: string,
  isSingle: boolean,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<Mirror> {
  const paths = pathsOf(environment);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'whetstone-search-'));
  const mirror: Mirror = {
    folder,
    skipped: [],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
  try {
    const isWanted = fileFilter(query);
    const ignoreFiles = query.noIgnore ? [] : undefined;
    const names = isSingle ? [paths.basename(root)] : walkFiles(environment, root, signal, ignoreFiles);
    for await (const name of names) {
      if (!isWanted(name)) continue;
      const reason = await bring(
        environment,
        isSingle ? root : paths.join(root, name),
        path.join(folder, name),
      );
      if (reason !== undefined) mirror.skipped.push({ path: name, reason });
    }
    return mirror;
  } catch (error) {
    await mirror[Symbol.asyncDispose]();
    throw error;
  }
}

async function bring(
  environment: ExecutionEnvironment,
  from: string,
  to: string,
): Promise<string | undefined> {
  try {
    const size = (await environment.stat(from))?.size ?? 0;
    if (size > MOST_BYTES) return `${size} bytes are too many to search in this environment`;
    const bytes = await environment.readBytes(from);
    await mkdir(path.dirname(to), { recursive: true });
    await writeFile(to, bytes);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
