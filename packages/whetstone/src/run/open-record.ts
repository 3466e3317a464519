import { existsSync, mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { present } from '@whetstone/events/present';
import { attacks, type ChosenSandbox, giveTree } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { hashSource } from '../config/source-tree.ts';
import { keepsProviderTools } from '../gateway/provider-tools.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import type { Manifest } from '../record/manifest.ts';
import { createRunRecord, type RunRecord, resumeRunRecord } from '../record/run-record.ts';
import { version } from '../version.ts';
import type { Scratch } from '../workspace/scratch-folder.ts';
import { emptySubmodules } from '../workspace/submodules.ts';
import { agentsBypassingGateway } from './agents-bypassing-gateway.ts';
import { buildManifest } from './build-manifest.ts';
import type { TreeNotes, Workplace } from './open-workplace.ts';
import type { PlannedRun } from './plan-or-resume.ts';
import { startSandboxes } from './start-sandboxes.ts';

/** Opens the run directory: that of the run to resume, or a new one with its manifest. */
export async function openRecord(input: {
  config: Config;
  plannedRun: PlannedRun;
  jobs: number;
  /** Absent in a run in which no agent works on files. */
  workplace: Workplace | undefined;
  scratch: Scratch;
  versions: ReadonlyMap<string, string | null>;
}): Promise<RunRecord> {
  const { config, jobs, workplace } = input;
  const { plan, withheld, resumed, sandbox } = input.plannedRun;
  if (resumed) return resumeRunRecord(resumed.directory);
  const { treeNotes = new Map(), notes = [] } = workplace ?? {};
  const dirty = workplace ? await isDirty(config, withheld) : null;
  const manifest = await buildManifest({
    ...{ config, plan, withheld, jobs, dirty, treeNotes },
    isolation: withProviderTools(
      workplace ? isolationOf(workplace, input.scratch, sandbox) : IN_PROCESS,
      config,
    ),
    agentVersions: input.versions,
    gitVersion: workplace?.gitVersion ?? null,
    notes: [...notesOf(dirty === true, treeNotes), ...agentsBypassingGateway(config, plan), ...notes],
  });
  return createRunRecord(config.outputDir, manifest);
}

/** The agents are code in our own process, and get no tree. */
const IN_PROCESS: Manifest['isolation'] = {
  ...{ provider: 'none', level: 0, processes: 'in-process', network: 'open', workspace: 'none' },
};

function isolationOf(
  { level: { reachable, limits, hosts, setupHosts, ...level }, probes, workspaces }: Workplace,
  { isPrivate }: Scratch,
  chosen: ChosenSandbox | undefined,
): Manifest['isolation'] {
  return {
    ...level,
    limits: {
      memory_bytes: limits.memoryBytes ?? null,
      processes: limits.processes ?? null,
      cpus: limits.cpus ?? null,
      disk_bytes: workspaces.diskBytes,
    },
    ...present({ hosts: hosts && [...hosts], setup_hosts: setupHosts && [...setupHosts] }),
    ...present({ probes, reachable: reachable?.map((attack) => attacks[attack]) }),
    ...(chosen && { auto: { reasons: chosen.reasons } }),
    workspace: workspaces.strategy,
    parents: isPrivate ? 'private' : 'checked',
  };
}

/** A search of the provider reaches what the sandbox does not let the agent reach. */
function withProviderTools(isolation: Manifest['isolation'], { gateway }: Config): Manifest['isolation'] {
  if (!gateway || !keepsProviderTools(gateway)) return isolation;
  const { network } = isolation;
  return {
    ...isolation,
    network: network === 'gateway-only' ? 'provider-tools' : `${network}, provider-tools`,
  };
}

async function isDirty(config: Config, withheld: PlannedRun['withheld']): Promise<boolean> {
  const { inspectRepo } = await import('../workspace/repository.ts');
  const own = [...ownPaths(config, withheld), ...(await usedFromDisk(config))];
  return (await inspectRepo(config.repo.path, own)).dirty;
}

/** Paths of the repository that a variant has as they are on disk: their changes are not left out. */
async function usedFromDisk({ repo, variants }: Config): Promise<string[]> {
  const skills = variants.flatMap((variant) => variant.skills ?? []);
  const pairs = variants
    .flatMap(({ overlays }) => overlays)
    .flatMap((one) => {
      if (one.kind === 'copy') return [{ target: one.target, source: one.source }];
      // A skill is taken out of the tree, and put where each agent looks.
      const removed = one.kind === 'remove' ? one.paths : [];
      return removed.flatMap((target) => skills.map(({ source }) => ({ target, source })));
    })
    .map(({ target, source }) => ({ path: join(repo.path, target), source }))
    .filter(({ path }) => existsSync(path));
  const isSame = await Promise.all(
    pairs.map(async ({ path, source }) => (await hashSource(path)) === (await hashSource(source))),
  );
  return pairs.filter((_, index) => isSame[index]).map(({ path }) => path);
}

/** The version that each agent reports. Asked once per run, in a sandbox, because some programs write to HOME. */
export async function agentVersions(
  config: Config,
  plan: Plan,
  scratch: string,
): Promise<ReadonlyMap<string, string | null>> {
  const agents = inPlan(config.agents, plan.agents);
  const versions = new Map(agents.map(({ name, kind }) => [name, kind === 'loop' ? version : null]));
  const programs = agents.filter(({ runner }) => runner === 'command' || runner === 'driver');
  if (programs.length === 0) return versions;
  const { agentVersion } = await import('@whetstone/agents/install');
  const sandboxes = await startSandboxes(config, plan, scratch);
  const workdir = mkdtempSync(join(scratch, 'v-'));
  await giveTree(workdir, sandboxes.owner);
  await using sandbox = await sandboxes.start({ workdir, env: {} });
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
    notes.push(emptySubmodules([...submodules]));
  }
  if (pointers.size > 0) {
    notes.push(`Git LFS files are only pointers in every workspace: ${pointers.size} of them.`);
  }
  return notes;
}
