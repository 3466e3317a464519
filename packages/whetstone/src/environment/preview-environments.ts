import type { Config, OverlayOperation } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { commandText } from '../verify/run-commands.ts';
import { listCommit } from '../workspace/list-commit.ts';
import { overlaidPaths } from '../workspace/overlaid-paths.ts';
import { instructionPaths } from '../workspace/place-instructions.ts';
import { readBlobs } from '../workspace/read-blobs.ts';
import { openRepository } from '../workspace/repository.ts';
import { displayPath } from '../workspace/tree-path.ts';
import { type Withheld, withheldBy } from '../workspace/withheld.ts';
import { workKey } from './environment-key.ts';
import { isInput, wholeTreeOf } from './key-inputs.ts';
import { type LayerStore, layerStore } from './layer-store.ts';
import { isReadManifest, type Manifest, NO_MANIFEST, needOfWholeTree } from './whole-tree.ts';

/** Which environments a run would use. Each number counts different ones. */
export type EnvironmentPreview = {
  commands: string[];
  /** There is one for the same inputs and commands. It is used unless the path or the version of a tool has changed. */
  stored: number;
  /** Of the stored ones together. */
  storedBytes: number;
  missing: number;
  /** Those of variants and tasks whose overlays write an input. */
  unknown: number;
  /** Trees without any of the inputs: their cases will be errors. */
  withoutInputs: number;
  /** Why some or all are made from the whole tree, although the configuration names no inputs. */
  wholeTree: string | null;
};

/**
 * Looks at the commits of a plan and at the environments of this machine. Makes no tree and starts nothing but Git.
 * `undefined`: the configuration prepares nothing.
 */
export async function previewEnvironments(
  { repo, environment, tasks, variants }: Pick<Config, 'repo' | 'environment' | 'tasks' | 'variants'>,
  { plan, withheld }: { plan: Plan; withheld: readonly Withheld[] },
  store: LayerStore = layerStore(),
): Promise<EnvironmentPreview | undefined> {
  if (!environment || environment.prepare.length === 0) return undefined;
  const { gitDir } = await openRepository(repo.path);
  const { inputs } = environment;
  const isKeyInput = isInput(inputs);
  const commands = environment.prepare.map(commandText);
  const wanted = { works: new Set<string>(), unknown: new Set<string>(), without: new Set<string>() };
  const layers = new Map(store.list().map(({ facts }) => [facts.work, facts]));
  const trees = new Map<string, Promise<Seen>>();
  const look = async (commit: string): Promise<Seen> => {
    const entries = await listCommit(gitDir, commit, withheldBy(withheld));
    const named = new Map([...entries].filter(([path]) => isKeyInput(displayPath(path))));
    if (inputs !== undefined) return { files: named, isSeen: isKeyInput };
    const instructions = instructionPaths(entries.keys());
    const whole = wholeTreeOf(entries, instructions);
    const isStored = () => layers.get(workKey(environment, whole))?.whole_tree;
    const need =
      named.size === 0
        ? NO_MANIFEST
        : (needOfWholeTree(commands, await readManifests(gitDir, named)) ?? isStored());
    if (need === undefined) return { files: named, isSeen: isKeyInput };
    return { files: whole, isSeen: (path) => instructionPaths([path]).length === 0, wholeTree: need };
  };
  let wholeTree: string | null = null;
  for (const { id, commit } of plan.tasks) {
    const looking = trees.get(commit) ?? look(commit);
    trees.set(commit, looking);
    const tree = await looking;
    wholeTree ??= tree.wholeTree ?? null;
    const own = tasks.find((task) => task.id === id)?.overlays ?? [];
    for (const variant of inPlan(variants, plan.variants)) {
      const overlays: OverlayOperation[] = [
        ...own,
        ...variant.overlays,
        // Wherever an agent reads them.
        ...(variant.instructions ? [{ kind: 'write' as const, target: 'AGENTS.md', text: '' }] : []),
      ];
      const written = await overlaidPaths([], overlays);
      if ([...written].some(tree.isSeen)) {
        wanted.unknown.add(JSON.stringify([commit, overlays]));
        continue;
      }
      const seen = new Map(tree.files);
      const kept = await overlaidPaths([...seen.keys()].map(displayPath), overlays);
      for (const path of seen.keys()) if (!kept.has(displayPath(path))) seen.delete(path);
      if (seen.size === 0) wanted.without.add(commit);
      else wanted.works.add(workKey(environment, seen));
    }
  }
  const found = [...wanted.works].flatMap((work) => layers.get(work) ?? []);
  return {
    commands,
    stored: found.length,
    storedBytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: wanted.works.size - found.length,
    unknown: wanted.unknown.size,
    withoutInputs: wanted.without.size,
    wholeTree,
  };
}

type Entries = ReadonlyMap<string, { mode: string; oid: string }>;
/** What the commands see of a commit. `isSeen`: whether a path that an overlay writes is part of it. */
type Seen = { files: Entries; isSeen: (path: string) => boolean; wholeTree?: string };

async function readManifests(gitDir: string, named: Entries): Promise<Manifest[]> {
  const read = [...named].filter(
    ([path, { mode }]) => mode.startsWith('100') && isReadManifest(displayPath(path)),
  );
  const manifests: Manifest[] = [];
  await readBlobs(
    gitDir,
    read.map(([, { oid }]) => oid),
    async (content, index) => {
      const chunks = await Array.fromAsync(content);
      manifests.push({ path: displayPath(read[index]?.[0] ?? ''), text: Buffer.concat(chunks).toString() });
    },
  );
  return manifests;
}
