import { dirname, join } from 'node:path';
import type { DeclaredContext } from '@whetstone/agents';
import { agentVersion } from '@whetstone/agents/install';
import type { SandboxProvider } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { createRunRecord, type RunRecord, resumeRunRecord } from '../record/run-record.ts';
import { version } from '../version.ts';
import { gitVersion } from '../workspace/git.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import { type InstructionPreview, instructionNotes } from '../workspace/preview-instructions.ts';
import { inspectRepo } from '../workspace/repository.ts';
import type { Scratch } from '../workspace/scratch-folder.ts';
import type { SnapshotNotes, Workspaces } from '../workspace/workspace.ts';
import { agentsBypassingGateway } from './agents-bypassing-gateway.ts';
import { buildManifest } from './build-manifest.ts';
import type { PlannedRun } from './plan-or-resume.ts';

/** What a reader should know about the tree of each commit. */
export type TreeNotes = ReadonlyMap<string, SnapshotNotes>;

/** Prepares every tree that the plan needs, so that a broken overlay or ref fails before the run costs anything. */
export async function prepareTrees(
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

/** Opens the run directory: that of the run to resume, or a new one with its manifest. */
export async function openRecord(input: {
  config: Config;
  plannedRun: PlannedRun;
  jobs: number;
  sandboxes: SandboxProvider;
  workspaces: Workspaces;
  treeNotes: TreeNotes;
  previews: readonly InstructionPreview[];
  scratch: Scratch;
  versions: ReadonlyMap<string, string | null>;
}): Promise<RunRecord> {
  const { config, jobs, sandboxes, treeNotes } = input;
  const { plan, withheld, resumed } = input.plannedRun;
  if (resumed) return resumeRunRecord(resumed.directory);
  const { dirty } = await inspectRepo(config.repo.path, ownPaths(config, withheld));
  const manifest = await buildManifest({
    ...{ config, plan, withheld, jobs, dirty, treeNotes },
    level: await sandboxes.describe(),
    workspaceStrategy: input.workspaces.strategy,
    parents: input.scratch.isPrivate ? 'private' : 'checked',
    agentVersions: input.versions,
    gitVersion: await gitVersion(),
    notes: [
      ...notesOf(dirty, treeNotes),
      ...agentsBypassingGateway(config, plan),
      ...instructionNotes(input.previews),
    ],
  });
  return createRunRecord(config.outputDir, manifest);
}

/** The version that each agent reports. Asked once per run, in a sandbox, because some programs write to HOME. */
export async function agentVersions(
  config: Config,
  plan: Plan,
  sandboxes: SandboxProvider,
  scratch: string,
): Promise<ReadonlyMap<string, string | null>> {
  const agents = inPlan(config.agents, plan.agents);
  const versions = new Map(agents.map(({ name, kind }) => [name, kind === 'loop' ? version : null]));
  const programs = agents.filter(({ runner }) => runner === 'command' || runner === 'driver');
  if (programs.length === 0) return versions;
  await using sandbox = await sandboxes.start({ workdir: scratch, env: {} });
  for (const agent of programs) versions.set(agent.name, await agentVersion(agent, sandbox));
  return versions;
}

/** What no case's tree has, and what Whetstone writes itself: never a change that a run left out. */
function ownPaths({ repo, file, outputDir, gateway }: Config, withheld: PlannedRun['withheld']): string[] {
  const recordings = gateway?.mode === 'record' ? [gateway.cassettes] : [];
  const kept = withheld.map(({ path }) => join(repo.path, path));
  const own = ['.whetstone', '.env', '.env.example'].map((name) => join(dirname(file), name));
  return [...own, outputDir, ...recordings, ...kept];
}

function notesOf(dirty: boolean, treeNotes: TreeNotes): string[] {
  const notes: string[] = [];
  if (dirty) {
    notes.push('The repository has uncommitted changes. They were left out: the run used the commit.');
  }
  const all = [...treeNotes.values()];
  const submodules = new Set(all.flatMap((note) => note.submodules));
  const pointers = new Set(all.flatMap((note) => note.lfsPointers));
  if (submodules.size > 0) {
    notes.push(`Submodules are empty folders in every workspace: ${[...submodules].join(', ')}.`);
  }
  if (pointers.size > 0) {
    notes.push(`Git LFS files are only pointers in every workspace: ${pointers.size} of them.`);
  }
  return notes;
}
