import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { giveTree, type Mask, removeTree, type SandboxProvider } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../config/config.ts';
import { INSTALLATION_FILES } from '../config/setup-environment.ts';
import { commandText, runCommands, succeeded } from '../verify/run-commands.ts';
import { explainFailure } from '../verify/run-setup.ts';
import { folderState } from '../workspace/folder-state.ts';
import { displayPath } from '../workspace/tree-path.ts';
import type { Changes, Snapshot, TreeEntries, Workspaces } from '../workspace/workspace.ts';
import { changedInputs, dropUnshareable, refuseReplaced, refuseSecrets } from './clean-layer.ts';
import { workKey } from './environment-key.ts';
import type { LayerFacts } from './layer-store.ts';

/** What a preparation uses. `env` and `secrets`: variables of the commands, and what of the user's they hold. */
export type Preparation = {
  key: string;
  config: EnvironmentConfig;
  snapshot: Snapshot;
  inputs: TreeEntries;
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

/**
 * Runs the commands on the inputs only, so that what they make depends on nothing else, and makes the folders `repo` and
 * `home` of a layer in `directory`.
 * @throws WhetstoneError `environment-prepare-failed`, `environment-secret-kept`
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
  const startedAt = performance.now();
  await runPrepare(folders, preparation);
  refuseReplaced([folders.tree, folders.home]);
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
  };
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
  throw new WhetstoneError('environment-prepare-failed', `prepare: ${explainFailure(failed)}`, {
    ...(config.inputs !== 'all' && { hint: INPUTS_HINT }),
    where: join(basename(dirname(logs)), basename(logs)),
  });
}

const INPUTS_HINT =
  'The commands see only the files of `environment.inputs`. If they need more of the tree, name it there; `inputs: all` is the whole tree.';
