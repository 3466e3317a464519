import type { Config, OverlayOperation } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { commandText } from '../verify/run-commands.ts';
import { listCommit } from '../workspace/list-commit.ts';
import { overlaidPaths } from '../workspace/overlaid-paths.ts';
import { openRepository } from '../workspace/repository.ts';
import { displayPath } from '../workspace/tree-path.ts';
import { type Withheld, withheldBy } from '../workspace/withheld.ts';
import { workKey } from './environment-key.ts';
import { isInput } from './key-inputs.ts';
import { type LayerStore, layerStore } from './layer-store.ts';

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
  const isKeyInput = isInput(environment.inputs);
  const wanted = { works: new Set<string>(), unknown: new Set<string>(), without: new Set<string>() };
  const listings = new Map<string, ReturnType<typeof listCommit>>();
  for (const { id, commit } of plan.tasks) {
    const listing = listings.get(commit) ?? listCommit(gitDir, commit, withheldBy(withheld));
    listings.set(commit, listing);
    const own = tasks.find((task) => task.id === id)?.overlays ?? [];
    for (const variant of inPlan(variants, plan.variants)) {
      const overlays: OverlayOperation[] = [
        ...own,
        ...variant.overlays,
        // Wherever an agent reads them.
        ...(variant.instructions ? [{ kind: 'write' as const, target: 'AGENTS.md', text: '' }] : []),
      ];
      const written = await overlaidPaths([], overlays);
      if ([...written].some(isKeyInput)) {
        wanted.unknown.add(JSON.stringify([commit, overlays]));
        continue;
      }
      const inputs = new Map([...(await listing)].filter(([path]) => isKeyInput(displayPath(path))));
      const kept = await overlaidPaths([...inputs.keys()].map(displayPath), overlays);
      for (const path of inputs.keys()) if (!kept.has(displayPath(path))) inputs.delete(path);
      if (inputs.size === 0) wanted.without.add(commit);
      else wanted.works.add(workKey(environment, inputs));
    }
  }
  const stored = new Map(store.list().map(({ facts }) => [facts.work, facts.bytes]));
  const found = [...wanted.works].filter((work) => stored.has(work));
  return {
    commands: environment.prepare.map(commandText),
    stored: found.length,
    storedBytes: found.reduce((sum, work) => sum + (stored.get(work) ?? 0), 0),
    missing: wanted.works.size - found.length,
    unknown: wanted.unknown.size,
    withoutInputs: wanted.without.size,
  };
}
