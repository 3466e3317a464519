import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { removeTree } from '@whetstone/sandbox';
import { makeEach } from '@whetstone/sandbox/files';
import { unwritable } from '../record/unwritable.ts';
import { folderState } from '../workspace/folder-state.ts';
import { factsSchema, type LayerFacts, layerStore } from './layer-store.ts';

const run = promisify(execFile);

/**
 * Writes environments into one archive, for another machine with the same programs at the same paths: the next job of a CI.
 * `keys`: which; default all. Resolves with what is in it.
 * @throws WhetstoneError `output-unwritable`
 */
export async function saveEnvironments(file: string, keys?: readonly string[]): Promise<LayerFacts[]> {
  const store = layerStore();
  const layers = store.list().filter(({ facts }) => keys === undefined || keys.includes(facts.key));
  // Held while they are read, so that nothing removes one of them.
  using leases = new DisposableStack();
  const held = layers.flatMap(({ facts }) => {
    const lease = store.lease(facts.key, 'shared');
    if (lease) leases.use(lease);
    return lease ? [facts] : [];
  });
  const target = resolve(file);
  try {
    makeEach(dirname(target));
    makeEach(store.root);
    const names = held.length === 0 ? ['--files-from', '/dev/null'] : held.map(({ key }) => key);
    // Times of files decide what `make` builds again, so all their digits are kept.
    await run('tar', [
      '--create',
      '--format=posix',
      '--numeric-owner',
      '--file',
      target,
      '-C',
      store.root,
      ...names,
    ]);
  } catch (cause) {
    throw unwritable(
      'The archive',
      target,
      saidByTar(cause),
      'Name a file in a folder that you may write to.',
    );
  }
  return held;
}

/**
 * Takes the environments of an archive of `saveEnvironments`. Those that are here stay. What a run compares later are the
 * files as they arrive, so the archive must come from a place that nobody else writes to.
 * @throws WhetstoneError `environment-archive-unreadable`
 */
export async function restoreEnvironments(file: string): Promise<LayerFacts[]> {
  const store = layerStore();
  makeEach(store.root);
  const folder = mkdtempSync(join(store.root, 'restore-'));
  try {
    await run('tar', [
      '--extract',
      '--preserve-permissions',
      '--numeric-owner',
      '--file',
      resolve(file),
      '-C',
      folder,
    ]).catch((cause: unknown) => {
      throw new WhetstoneError(
        'environment-archive-unreadable',
        `The archive cannot be read: ${messageOf(saidByTar(cause))}`,
        {
          where: file,
          cause,
        },
      );
    });
    const restored: LayerFacts[] = [];
    for (const name of readdirSync(folder)) {
      const facts = factsOf(join(folder, name), name);
      using lease = facts && store.lease(facts.key, 'exclusive');
      if (!facts || !lease || existsSync(join(store.root, facts.key))) continue;
      const parts = ['repo', 'home'].map((part) => join(folder, name, part));
      const { sha256: state, bytes, files } = await folderState(parts);
      const now = { ...facts, state, bytes, files };
      writeFileSync(join(folder, name, 'layer.json'), `${JSON.stringify(now, null, 2)}\n`);
      renameSync(join(folder, name), join(store.root, facts.key));
      restored.push(now);
    }
    return restored;
  } finally {
    await removeTree(folder);
  }
}

/** The facts of a layer in the archive; `undefined`: something else, or of another version. */
function factsOf(folder: string, name: string): LayerFacts | undefined {
  const isWhole = ['repo', 'home', 'layer.json'].every((part) => existsSync(join(folder, part)));
  if (!isWhole) return undefined;
  const parsed = factsSchema.safeParse(parseJson(readFileSync(join(folder, 'layer.json'), 'utf8')));
  return parsed.success && parsed.data.key === name ? parsed.data : undefined;
}

/** The first line of tar says what is wrong; its last one only that something was. */
const saidByTar = (cause: unknown): unknown =>
  cause instanceof Error && 'stderr' in cause ? new Error(String(cause.stderr).split('\n')[0]) : cause;
