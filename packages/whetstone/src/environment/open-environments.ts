import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { giveTree, type Mask, removeTree, type SandboxProvider } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../config/config.ts';
import { type Lease, retried } from '../record/lease.ts';
import { commandText } from '../verify/run-commands.ts';
import type { PrepareAgain } from '../verify/verify.ts';
import { changedEntries } from '../workspace/changed-entries.ts';
import { displayPath } from '../workspace/tree-path.ts';
import type { Snapshot, TreeEntries, Workspaces } from '../workspace/workspace.ts';
import { environmentKey, toolVersions, workKey } from './environment-key.ts';
import { keepRunners } from './keep-runners.ts';
import { isInput, wholeTreeOf } from './key-inputs.ts';
import { isIntact, type LayerFacts, type LayerStore, layerStore, type StoredLayer } from './layer-store.ts';
import { NeedsWholeTree, type Preparation, prepareLayer } from './prepare-layer.ts';
import { sizeLimit } from './size-limit.ts';
import { NO_MANIFEST, needOfWholeTree } from './whole-tree.ts';

/** Environments for the snapshots of one `Workspaces`: prepared once, kept across runs, and in use until disposed. */
export type Environments = AsyncDisposable & {
  /**
   * The snapshot with its environment, which is prepared unless this machine has it. A preparation that failed is not tried
   * again: everyone who needs it gets the same error.
   * @throws WhetstoneError `environment-prepare-failed`, `environment-secret-kept`, `environment-inputs-missing`
   */
  equip(snapshot: Snapshot): Promise<Snapshot>;
  /** For the clean room of an agent that changed an input. */
  prepareAgain: PrepareAgain;
};

export type EnvironmentsOptions = {
  config: EnvironmentConfig;
  /** Variables for the commands, and the secrets in them. */
  variables: { env: Record<string, string>; secrets: readonly string[] };
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  /** The folder in which `workspaces` makes its trees. */
  scratch: string;
  /** The name of the project, for a list of environments. */
  project: string;
  /** The folder for the output of commands: a folder in it for each key. */
  logs: string;
  mask: Mask;
  signal: AbortSignal;
  onEvent?: (event: EnvironmentEvent) => void;
  /** Default: that of this machine's user. */
  store?: LayerStore;
};

export type EnvironmentEvent =
  /** `wholeTree`: why the commands see the whole tree, although the configuration does not say so. */
  | { type: 'environment.preparing'; key: string; commands: string[]; wholeTree?: string }
  | { type: 'environment.waiting'; key: string; commands: string[] }
  | { type: 'environment.ready'; layer: LayerFacts; isNew: boolean }
  /** Where layered mounts do not work. */
  | { type: 'environment.copied'; key: string; seconds: number }
  | { type: 'environment.changed'; key: string; directory: string };

type Used = { layer: StoredLayer; lease: Lease; isNew: boolean };

/**
 * Opens the environments of a configuration. Whoever calls it disposes the result, which ends the use of the layers.
 * @throws WhetstoneError `environment-limit-invalid`
 */
export async function openEnvironments(options: EnvironmentsOptions): Promise<Environments> {
  const { config, workspaces, sandboxes, scratch, store = layerStore() } = options;
  const onEvent = options.onEvent ?? (() => undefined);
  const isKeyInput = isInput(config.inputs);
  const limit = sizeLimit(process.env);
  await store.sweep();
  const { neighbours } = await sandboxes.describe();
  const at = neighbours === 'hidden' && sandboxes.movesTrees !== false ? fixedPath(scratch) : undefined;
  const used = new Map<string, Promise<Used>>();
  const equipped = new WeakMap<Snapshot, Promise<Snapshot>>();
  /** By the work key of manifests: the whole tree made no difference. */
  const hopeless = new Map<string, unknown>();
  let tools: Promise<string> | undefined;

  async function findTools(): Promise<string> {
    const workdir = mkdtempSync(join(scratch, 'v-'));
    await giveTree(workdir, sandboxes.owner);
    await using sandbox = await sandboxes.start({ workdir, env: {} });
    return await toolVersions(config.prepare.map(commandText), sandbox);
  }

  async function take(snapshot: Snapshot, inputs: TreeEntries, wholeTree?: string): Promise<Used> {
    tools ??= findTools();
    const key = environmentKey(config, { inputs, tools: await tools, at, owner: sandboxes.owner });
    const known = used.get(key);
    if (known) return known;
    const { variables, ...rest } = options;
    const logs = join(options.logs, key.slice(0, 12));
    const preparation = { ...rest, ...variables, key, snapshot, inputs, at, logs, ...present({ wholeTree }) };
    const taking = use(store, preparation, onEvent);
    used.set(key, taking);
    return taking;
  }

  /** Where the configuration names no inputs: from the manifests, and from the whole tree where these are not enough. */
  async function takeWhatIsNeeded(snapshot: Snapshot): Promise<Used> {
    const manifests = filesOf(snapshot, isKeyInput);
    const whole = wholeTreeOf(snapshot.entries, instructionsOf(snapshot));
    const need = manifests.size === 0 ? NO_MANIFEST : needOfWholeTree(config.prepare.map(commandText), []);
    if (need !== undefined) return take(snapshot, whole, need);
    const stored = store.list().find(({ facts }) => facts.work === workKey(config, whole))?.facts.whole_tree;
    if (stored !== undefined) return take(snapshot, whole, stored);
    const work = workKey(config, manifests);
    try {
      return await take(snapshot, manifests);
    } catch (error) {
      if (!(error instanceof NeedsWholeTree)) throw error;
      if (hopeless.has(work)) throw hopeless.get(work);
      return await take(snapshot, whole, error.reason).catch((failure: unknown) => {
        // Then it lacks no file, and the next tree would not help either.
        if (firstLine(failure) === firstLine(error.cause)) hopeless.set(work, failure);
        throw failure;
      });
    }
  }

  async function equip(snapshot: Snapshot): Promise<Snapshot> {
    const { layer, isNew } =
      config.inputs === undefined
        ? await takeWhatIsNeeded(snapshot)
        : await take(snapshot, namedInputs(snapshot, isKeyInput));
    const { key } = layer.facts;
    if (isNew) await store.shrink(limit);
    const { tree, home } = layer;
    const equippedSnapshot = await workspaces.equip(snapshot, { key, tree, home, ...present({ at }) });
    const seconds = equippedSnapshot.environment?.copySeconds ?? 0;
    if (seconds > 0) onEvent({ type: 'environment.copied', key, seconds });
    return equippedSnapshot;
  }

  async function prepareAgain(...[snapshot, changes, keep, logs]: Parameters<PrepareAgain>) {
    const { bare, key: pristine = '' } = snapshot.environment ?? {};
    const files = changes.files.filter(({ path }) => keep(path));
    const isTouched = files.some(
      ({ path, from }) => isKeyInput(path) || (from !== undefined && isKeyInput(from)),
    );
    if (!bare || !isTouched) return undefined;
    const allowed = { files, contents: changes.contents };
    const entries = changedEntries(bare.entries, allowed);
    const { variables, ...rest } = options;
    const key = randomBytes(32).toString('hex');
    const lease = store.lease(key, 'exclusive');
    const prepare = async (inputs: TreeEntries, wholeTree?: string) => {
      const directory = await store.begin(key);
      await prepareLayer(directory, {
        ...{ ...rest, ...variables, key, at, logs, inputs, ...present({ wholeTree }) },
        snapshot: bare,
        changes: allowed,
      });
      return directory;
    };
    const whole = (reason: string) => prepare(wholeTreeOf(entries, instructionsOf(bare)), reason);
    const drop = async (): Promise<void> => {
      await removeTree(await store.begin(key));
      lease?.[Symbol.dispose]();
      await store.forget(key);
    };
    try {
      const reason = (await used.get(pristine))?.layer.facts.whole_tree;
      const inputs = new Map([...entries].filter(([path]) => isKeyInput(displayPath(path))));
      const directory =
        reason !== undefined
          ? await whole(reason)
          : await prepare(inputs).catch((error: unknown) => {
              if (error instanceof NeedsWholeTree) return whole(error.reason);
              throw error;
            });
      const made = { tree: join(directory, 'repo'), home: join(directory, 'home') };
      const original = (await used.get(pristine))?.layer;
      const kept = original ? await keepRunners(original, made) : [];
      const layer = { key, ...made, ...present({ at }) };
      return { snapshot: await workspaces.equip(bare, layer), kept, [Symbol.asyncDispose]: drop };
    } catch (error) {
      await drop();
      throw error;
    }
  }

  return {
    prepareAgain,
    equip(snapshot) {
      const known = equipped.get(snapshot) ?? equip(snapshot);
      equipped.set(snapshot, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      for (const [key, taking] of used) {
        const one = await taking.catch(() => undefined);
        if (!one) continue;
        const isWhole = await isIntact(one.layer);
        one.lease[Symbol.dispose]();
        if (isWhole) continue;
        onEvent({ type: 'environment.changed', key, directory: one.layer.directory });
        await store.remove(key);
      }
    },
  };
}

/**
 * Where commands see the folder around every tree: a name that is free in the scratch folder, if that has the same path in
 * every run, else a folder of the user beside it.
 */
function fixedPath(scratch: string): string {
  return dirname(scratch) === '/'
    ? join(scratch, 'case')
    : join(realpathSync(tmpdir()), `whetstone-case-${process.getuid?.() ?? 0}`);
}

const filesOf = ({ entries }: Snapshot, isKeyInput: (path: string) => boolean): TreeEntries =>
  new Map([...entries].filter(([path]) => isKeyInput(displayPath(path))));

const instructionsOf = ({ instructionFiles, placed }: Snapshot): string[] => [
  ...instructionFiles,
  ...(placed ? [placed.path] : []),
];

function namedInputs(snapshot: Snapshot, isKeyInput: (path: string) => boolean): TreeEntries {
  const inputs = filesOf(snapshot, isKeyInput);
  if (inputs.size > 0) return inputs;
  throw new WhetstoneError(
    'environment-inputs-missing',
    'The tree has no file that `environment.inputs` names.',
    {
      hint: 'Name the files that `prepare` reads, or use `inputs: all` for the whole tree.',
    },
  );
}

/** What failed, without the output of this time. */
const firstLine = (error: unknown): string | undefined =>
  error instanceof Error ? error.message.split('\n', 1)[0] : undefined;

/** Takes a layer into use. Of all processes that need it, one makes it, and the others wait. */
async function use(
  store: LayerStore,
  preparation: Preparation,
  onEvent: (event: EnvironmentEvent) => void,
): Promise<Used> {
  const { key, signal, wholeTree } = preparation;
  const commands = preparation.config.prepare.map(commandText);
  let isNew = false;
  let isWaiting = false;
  const found = await retried(async () => {
    const lease = store.lease(key, 'shared');
    const layer = lease && store.read(key);
    if (layer && (isNew || (await isIntact(layer)))) return { layer, lease };
    lease?.[Symbol.dispose]();
    using exclusive = store.lease(key, 'exclusive');
    if (!exclusive) {
      if (!isWaiting) onEvent({ type: 'environment.waiting', key, commands });
      isWaiting = true;
      return undefined;
    }
    const existing = store.read(key);
    if (existing && (await isIntact(existing))) return undefined;
    await removeTree(join(store.root, key));
    onEvent({ type: 'environment.preparing', key, commands, ...present({ wholeTree }) });
    await make(store, preparation);
    isNew = true;
    return undefined;
  }, signal);
  store.markUsed(key);
  onEvent({ type: 'environment.ready', layer: found.layer.facts, isNew });
  return { ...found, isNew };
}

async function make(store: LayerStore, preparation: Preparation): Promise<void> {
  const directory = await store.begin(preparation.key);
  try {
    store.publish(directory, await prepareLayer(directory, preparation));
  } catch (error) {
    await removeTree(directory);
    throw error;
  }
}
