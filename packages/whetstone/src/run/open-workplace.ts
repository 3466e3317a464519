import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DeclaredContext } from '@whetstone/agents';
import { present } from '@whetstone/events/present';
import { type Finding, proveSandbox, type SandboxLevel, type SandboxProvider } from '@whetstone/sandbox';
import type { Workplace as LabWorkplace } from '../attempt/lab.ts';
import type { Config } from '../config/config.ts';
import {
  type Environments,
  type EnvironmentsOptions,
  openEnvironments,
} from '../environment/open-environments.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { checkParents } from '../workspace/check-parents.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { gitVersion } from '../workspace/git.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import { instructionNotes, previewInstructions } from '../workspace/preview-instructions.ts';
import type { Scratch } from '../workspace/scratch-folder.ts';
import { type Seal, sealFolders } from '../workspace/seal.ts';
import type { Withheld } from '../workspace/withheld.ts';
import type { Snapshot, SnapshotNotes, Workspaces } from '../workspace/workspace.ts';
import { keptFiles } from './choose-sandbox.ts';
import { startSandboxes } from './start-sandboxes.ts';

/** What a reader should know about the tree of each commit. */
export type TreeNotes = ReadonlyMap<string, SnapshotNotes>;

/** Where the agents of a run work on files, with every tree prepared. Disposing removes the trees. */
export type Workplace = LabWorkplace &
  AsyncDisposable & {
    level: SandboxLevel;
    /** What was tried in the sandbox, where it is one that confines. */
    probes?: Finding[];
    /** What a person should know before the run, and what a reader of its result must know: sentences. */
    warnings: readonly string[];
    notes: readonly string[];
    treeNotes: TreeNotes;
    gitVersion: string;
  };

/** Prepares every tree that the plan needs, so that a broken overlay or ref fails before the run costs anything. */
export async function openWorkplace(
  config: Config,
  plan: Plan,
  input: {
    scratch: Scratch;
    withheld: Withheld[];
    contexts: ReadonlyMap<string, DeclaredContext>;
    /** How many cases run at the same time. */
    jobs: number;
    /** What was tried when the sandbox was chosen. Default: it is tried now. */
    probes?: Finding[];
  },
): Promise<Workplace> {
  const { withheld, contexts } = input;
  const { directory: scratch, isShared } = input.scratch;
  checkParents(scratch);
  const sandboxes = await startSandboxes(config, plan, scratch);
  const { owner } = sandboxes;
  const workspaces = await createWorkspaces({
    ...{ repo: config.repo.path, scratch, withheld, owner },
    ...(isShared && { strategy: 'shared' }),
    diskBytes: config.sandbox.diskBytes,
    casesAtOnce: Math.min(input.jobs, plan.cases.length || 1),
  });
  const close = () => workspaces[Symbol.asyncDispose]();
  try {
    const previews = await previewInstructions({
      config,
      withheld,
      commits: plan.tasks.map(({ commit }) => commit),
      // The others leave the instructions of the repository as they are.
      variants: inPlan(config.variants, plan.variants).filter(
        ({ overlays, instructions }) => overlays.length > 0 || instructions,
      ),
      agents: inPlan(config.agents, plan.agents),
    });
    const probes = input.probes ?? (await provenBy(sandboxes, config, scratch));
    return {
      ...present({ probes }),
      ...{ workspaces, sandboxes, services: config.environment?.services ?? [] },
      warnings: previews.flatMap((preview) => preview.warnings),
      notes: instructionNotes(previews),
      hidden: await sealHidden(config, plan),
      treeNotes: await prepareTrees(config, plan, { workspaces, contexts }),
      level: await sandboxes.describe(),
      gitVersion: await gitVersion(),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Attacks this machine from the sandbox before the first case does, if it is one that confines.
 * @throws WhetstoneError `sandbox-unavailable` if an attack came through
 */
async function provenBy(
  sandboxes: SandboxProvider,
  config: Config,
  scratch: string,
): Promise<Finding[] | undefined> {
  const { level } = await sandboxes.describe();
  if (level === 0) return undefined;
  const trees = readdirSync(scratch).filter((name) => name.startsWith('t-'));
  const kept = [...keptFiles(config, config.tasks), ...trees.map((name) => join(scratch, name))];
  return proveSandbox(sandboxes, { scratch, kept });
}

export { listPlannedTests } from './list-planned-tests.ts';

type TreeSources = { workspaces: Workspaces; contexts: ReadonlyMap<string, DeclaredContext> };

async function sealHidden({ tasks }: Config, plan: Plan): Promise<ReadonlyMap<string, Seal>> {
  const planned = new Set(plan.tasks.map(({ id }) => id));
  const sealed = new Map<string, Seal>();
  for (const { id, hiddenTests } of tasks) {
    if (hiddenTests === undefined || !planned.has(id)) continue;
    sealed.set(hiddenTests, await sealFolders([hiddenTests]));
  }
  return sealed;
}

async function prepareTrees(config: Config, plan: Plan, sources: TreeSources): Promise<TreeNotes> {
  const notes = new Map<string, SnapshotNotes>();
  for await (const { commit, notes: found } of treesOf(config, plan, sources)) notes.set(commit, found);
  return notes;
}

/**
 * Opens the environments of a configuration that has any, and prepares all that the plan needs, before any agent runs. A
 * preparation that fails is an error of the cases that need it.
 */
export async function openPlannedEnvironments(
  config: Config,
  plan: Plan,
  { contexts, ...options }: Omit<EnvironmentsOptions, 'config' | 'project'> & Pick<TreeSources, 'contexts'>,
): Promise<Environments | undefined> {
  const { environment } = config;
  if (!environment || environment.prepare.length === 0) return undefined;
  const project = basename(config.repo.path);
  const environments = await openEnvironments({ ...options, config: environment, project });
  const { workspaces } = options;
  for await (const snapshot of treesOf(config, plan, { workspaces, contexts })) {
    await environments.equip(snapshot).catch(() => undefined);
  }
  return environments;
}

async function* treesOf(
  config: Config,
  plan: Plan,
  { workspaces, contexts }: TreeSources,
): AsyncGenerator<Snapshot> {
  const starts = new Map(
    plan.tasks.map(({ id, commit }) => {
      const overlays = config.tasks.find((task) => task.id === id)?.overlays ?? [];
      return [JSON.stringify([commit, overlays]), { commit, overlays }];
    }),
  );
  for (const { commit, overlays } of starts.values()) {
    for (const variant of inPlan(config.variants, plan.variants)) {
      for (const agent of inPlan(config.agents, plan.agents)) {
        const instructions = instructionsFor(variant, agent, contexts.get(variant.name)?.instructions);
        yield await workspaces.prepare(commit, [...overlays, ...variant.overlays], instructions);
      }
    }
  }
}
