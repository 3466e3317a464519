import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { removeTree } from '@whetstone/sandbox';
import { makeEach } from '@whetstone/sandbox/files';
import { z } from 'zod';
import { type Lease, tryLease } from '../record/lease.ts';
import { folderState } from '../workspace/folder-state.ts';

/** What is known of a layer, in `layer.json` beside its folders. */
export const factsSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  /** The `workKey` of it. Absent in layers of older versions. */
  work: z.string().optional(),
  /** ISO time. */
  prepared_at: z.string(),
  seconds: z.number(),
  bytes: z.number(),
  files: z.number(),
  commands: z.array(z.string()),
  /** Where commands see the folder around the tree; `null` where that could not be fixed. */
  at: z.string().nullable(),
  /** The name of the repository's folder, for a reader of the list. */
  project: z.string(),
  /** Inputs that the commands changed. The layer has them as they were. */
  restored_inputs: z.array(z.string()),
  /** What was left out, because it may hold credentials or cannot be shared. */
  dropped: z.array(z.string()),
  /** Why it was made from the whole tree, although no configuration said so. */
  whole_tree: z.string().optional(),
  /** The `folderState` of both folders. */
  state: z.string(),
});
export type LayerFacts = z.infer<typeof factsSchema>;

export type StoredLayer = { facts: LayerFacts; directory: string; tree: string; home: string };

/** The folder of all layers. */
const environmentsFolder = (): string => join(cacheFolder(), 'environments');

/**
 * The layers of this machine, one folder each: `KEY/layer.json`, `KEY/repo`, `KEY/home`. A layer is made in `tmp-KEY` and
 * renamed when it is whole; who makes, changes or removes `KEY` or `tmp-KEY` holds the exclusive lease of the key.
 */
export const layerStore = (root: string = environmentsFolder()) => ({
  root,
  lease: (key: string, kind: 'shared' | 'exclusive') => tryLease(join(root, 'locks', key), kind),

  /** The layer of a key, if it is whole. */
  read: (key: string): StoredLayer | undefined => readLayer(join(root, key)),

  /** A new folder for making a layer. What an earlier attempt left is removed. */
  async begin(key: string): Promise<string> {
    const directory = join(root, `tmp-${key}`);
    await removeTree(directory);
    makeEach(directory, 0o700);
    return directory;
  },

  /** Turns a folder of `begin`, which has the folders `repo` and `home`, into the layer. */
  publish(directory: string, facts: LayerFacts): void {
    writeFileSync(join(directory, 'layer.json'), `${JSON.stringify(facts, null, 2)}\n`);
    renameSync(directory, join(root, facts.key));
  },

  markUsed(key: string): void {
    const now = new Date();
    utimesSync(join(root, key, 'layer.json'), now, now);
  },

  list: (): (StoredLayer & { usedAt: Date })[] =>
    names(root)
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .flatMap((name) => {
        const layer = readLayer(join(root, name));
        // Another process may have removed it by now.
        const stat = layer && statSync(join(layer.directory, 'layer.json'), { throwIfNoEntry: false });
        return layer && stat ? [{ ...layer, usedAt: stat.mtime }] : [];
      })
      .sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime()),

  remove: (key: string) => removeLayer(root, key),

  /** Removes the lock of a key that nobody else can know. */
  forget: (key: string) => rm(join(root, 'locks', key), { force: true }),

  /** Removes what a killed process left of a preparation or a removal, and layers whose facts cannot be read. */
  async sweep(): Promise<void> {
    for (const name of names(root)) {
      const [, kind, key] = /^(tmp-|trash-|)([0-9a-f]{64})/.exec(name) ?? [];
      const isWhole = () => kind === '' && readLayer(join(root, name)) !== undefined;
      if (key === undefined || isWhole()) continue;
      using lease = tryLease(join(root, 'locks', key), 'exclusive');
      // It may have been made in between.
      if (lease && !isWhole()) await removeTree(join(root, name));
    }
  },

  /** Removes layers that are not in use, those that were used longest ago first, until the rest fits. */
  async shrink(limitBytes: number): Promise<void> {
    const layers = this.list();
    let bytes = layers.reduce((sum, { facts }) => sum + facts.bytes, 0);
    for (const { facts } of layers.reverse()) {
      if (bytes <= limitBytes) return;
      if (await removeLayer(root, facts.key)) bytes -= facts.bytes;
    }
  },
});

export type LayerStore = ReturnType<typeof layerStore>;

/** `false`: a process uses it. It is renamed first, so that nobody finds half of it. */
async function removeLayer(root: string, key: string): Promise<boolean> {
  using lease: Lease | undefined = tryLease(join(root, 'locks', key), 'exclusive');
  if (!lease) return false;
  const trash = join(root, `trash-${key}-${process.pid}-${Date.now()}`);
  if (existsSync(join(root, key))) renameSync(join(root, key), trash);
  await removeTree(trash);
  return true;
}

/** Whether a layer is still what was stored. */
export async function isIntact({ facts, tree, home }: StoredLayer): Promise<boolean> {
  const state = await folderState([tree, home]).catch(() => undefined);
  return state?.sha256 === facts.state;
}

function readLayer(directory: string): StoredLayer | undefined {
  try {
    const facts = factsSchema.parse(JSON.parse(readFileSync(join(directory, 'layer.json'), 'utf8')));
    return { facts, directory, tree: join(directory, 'repo'), home: join(directory, 'home') };
  } catch {
    // Of another version, or damaged: it is made again.
    return undefined;
  }
}

const names = (root: string): string[] => (existsSync(root) ? readdirSync(root) : []);
