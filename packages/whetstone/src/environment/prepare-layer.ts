import { mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { giveTree, type Mask, removeTree, type SandboxProvider } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../config/config.ts';
import { INSTALLATION_FILES } from '../config/setup-environment.ts';
import { commandText, runCommands, succeeded } from '../verify/run-commands.ts';
import { explainFailure } from '../verify/run-setup.ts';
import { folderState } from '../workspace/folder-state.ts';
import { absolutePath, displayPath } from '../workspace/tree-path.ts';
import type { Changes, Snapshot, TreeEntries, Workspaces } from '../workspace/workspace.ts';
import { changedInputs, dropUnshareable, refuseReplaced, refuseSecrets } from './clean-layer.ts';
import { workKey } from './environment-key.ts';
import type { LayerFacts } from './layer-store.ts';
import { holdProgramPlaces } from './program-places.ts';
import { isReadManifest, type Manifest, needOfWholeTree } from './whole-tree.ts';

/** What a preparation uses. `env` and `secrets`: variables of the commands, and what of the user's they hold. */
export type Preparation = {
  key: string;
  config: EnvironmentConfig;
  snapshot: Snapshot;
  inputs: TreeEntries;
  /** Why the inputs are the whole tree, although the configuration does not name them. */
  wholeTree?: string;
  /** Of an agent: then `inputs` are as it left them. Default: none. */
  changes?: Pick<Changes, 'files' | 'contents'>;
  at: string | undefined;
  env: Record<string, string>;
  secrets: readonly string[];
  workspaces: Pick<Workspaces, 'extract'>;
  sandboxes: SandboxProvider;
  project: string;
  /** The folder for the output of the commands. */
  logs: string;
  mask: Mask;
  signal: AbortSignal;
};

/** The configuration names no inputs, and the manifests are not enough. */
export class NeedsWholeTree extends Error {
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(`prepare needs the whole tree: ${reason}`, options);
    this.reason = reason;
  }
}

/**
 * Runs the commands on the inputs only, so that what they make depends on nothing else, and makes the folders `repo` and
 * `home` of a layer in `directory`.
 * @throws WhetstoneError `environment-prepare-failed`, `environment-secret-kept`
 * @throws NeedsWholeTree
 */
export async function prepareLayer(directory: string, preparation: Preparation): Promise<LayerFacts> {
  const { key, config, snapshot, inputs, changes, at, workspaces, project, secrets } = preparation;
  const folders = { tree: join(directory, 'repo'), home: join(directory, 'home') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { mode: 0o755 });
  const extract = (paths: readonly string[]) => {
    const wanted = new Set(paths);
    return workspaces.extract(snapshot, folders.tree, (path) => wanted.has(path), changes);
  };
  await extract([...inputs.keys()].map(displayPath));
  for (const folder of Object.values(folders)) await giveTree(folder, preparation.sandboxes.owner);
  const isGuess = config.inputs === undefined && preparation.wholeTree === undefined;
  const manifests = isGuess ? readManifests(folders.tree, inputs) : [];
  const need = needOfWholeTree(isGuess ? config.prepare.map(commandText) : [], manifests);
  if (need !== undefined) throw new NeedsWholeTree(need);
  const release = await holdProgramPlaces(folders.tree, manifests);
  const startedAt = performance.now();
  await runPrepare(folders, preparation);
  refuseReplaced([folders.tree, folders.home]);
  release();
  const seconds = (performance.now() - startedAt) / 1000;
  const restored = await changedInputs(folders.tree, inputs);
  if (restored.length > 0) {
    await removeTree(join(folders.tree, '.git'));
    await extract(restored);
  }
  const dropped = await dropUnshareable(folders, inputs);
  await refuseSecrets({ '': folders.tree, '~/': folders.home }, secrets);
  const { sha256: state, bytes, files } = await folderState([folders.tree, folders.home]);
  return {
    key,
    work: workKey(config, inputs),
    prepared_at: new Date().toISOString(),
    ...{ seconds, bytes, files, project, state },
    commands: config.prepare.map(commandText),
    at: at ?? null,
    restored_inputs: restored,
    dropped,
    ...present({ whole_tree: preparation.wholeTree }),
  };
}

/** Those that say what an installation runs. */
function readManifests(tree: string, inputs: TreeEntries): Manifest[] {
  return [...inputs].flatMap(([path, { mode }]) => {
    if (!mode.startsWith('100') || !isReadManifest(displayPath(path))) return [];
    return [{ path: displayPath(path), text: readFileSync(absolutePath(tree, path), 'utf8') }];
  });
}

async function runPrepare(
  { tree, home }: { tree: string; home: string },
  preparation: Preparation,
): Promise<void> {
  const { config, at, env, sandboxes, logs, mask, signal } = preparation;
  await using sandbox = await sandboxes.start({ workdir: tree, home, env: {}, ...present({ at }) });
  const ran = await runCommands(sandbox, config.prepare, {
    ...{ directory: logs, mask, signal },
    prefix: 'prepare',
    stopAtFailure: true,
    network: 'open',
    timeoutMs: config.timeoutSeconds * 1000,
    env: async () => env,
    lend: INSTALLATION_FILES,
  });
  await sandbox.stop();
  signal.throwIfAborted();
  const failed = ran.find(({ result }) => !succeeded(result));
  if (!failed) return;
  const parent = basename(dirname(logs));
  const error = new WhetstoneError(
    'environment-prepare-failed',
    `prepare: ${explainFailure(failed, parent)}`,
    {
      ...(Array.isArray(config.inputs) && { hint: INPUTS_HINT }),
      where: join(parent, basename(logs)),
    },
  );
  const isGuess = config.inputs === undefined && preparation.wholeTree === undefined;
  // More files do not make a command faster that hangs.
  if (isGuess && failed.result.ended === 'exit')
    throw new NeedsWholeTree('with the manifests alone, prepare fails', { cause: error });
  throw error;
}

const INPUTS_HINT =
  'The commands see only the files of `environment.inputs`. If they need more of the tree, name it there; `inputs: all` is the whole tree.';
