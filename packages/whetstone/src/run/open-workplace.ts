import type { DeclaredContext } from '@whetstone/agents';
import { type SandboxLevel, startSandboxProvider } from '@whetstone/sandbox';
import type { Workplace as LabWorkplace } from '../attempt/lab.ts';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { checkParents } from '../workspace/check-parents.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { gitVersion } from '../workspace/git.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import { instructionNotes, previewInstructions } from '../workspace/preview-instructions.ts';
import type { Scratch } from '../workspace/scratch-folder.ts';
import type { Withheld } from '../workspace/withheld.ts';
import type { SnapshotNotes, Workspaces } from '../workspace/workspace.ts';

/** What a reader should know about the tree of each commit. */
export type TreeNotes = ReadonlyMap<string, SnapshotNotes>;

/** Where the agents of a run work on files, with every tree prepared. Disposing removes the trees. */
export type Workplace = LabWorkplace &
  AsyncDisposable & {
    level: SandboxLevel;
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
  },
): Promise<Workplace> {
  const { withheld, contexts } = input;
  const scratch = input.scratch.directory;
  checkParents(scratch);
  const workspaces = await createWorkspaces({ repo: config.repo.path, scratch, withheld });
  const close = () => workspaces[Symbol.asyncDispose]();
  try {
    const sandboxes = await startSandboxProvider(config.sandbox.provider, { scratch });
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
    return {
      ...{ workspaces, sandboxes },
      warnings: previews.flatMap((preview) => preview.warnings),
      notes: instructionNotes(previews),
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

async function prepareTrees(
  config: Config,
  plan: Plan,
  { workspaces, contexts }: { workspaces: Workspaces; contexts: ReadonlyMap<string, DeclaredContext> },
): Promise<TreeNotes> {
  const notes = new Map<string, SnapshotNotes>();
  for (const commit of new Set(plan.tasks.map((task) => task.commit))) {
    for (const variant of inPlan(config.variants, plan.variants)) {
      for (const agent of inPlan(config.agents, plan.agents)) {
        const instructions = instructionsFor(variant, agent, contexts.get(variant.name)?.instructions);
        notes.set(commit, (await workspaces.prepare(commit, variant.overlays, instructions)).notes);
      }
    }
  }
  return notes;
}
