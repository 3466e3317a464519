import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { arch, availableParallelism, platform, release, totalmem } from 'node:os';
import { present } from '@whetstone/events/present';
import type { Config, GatewayConfig } from '../config/config.ts';
import { contextContent } from '../plan/fingerprint.ts';
import type { Plan } from '../plan/plan.ts';
import type { Manifest } from '../record/manifest.ts';
import { version } from '../version.ts';
import type { Withheld } from '../workspace/withheld.ts';
import type { SnapshotNotes } from '../workspace/workspace.ts';

/** Makes `manifest.json` from a plan and the facts about the machine. */
export async function buildManifest(input: {
  config: Config;
  plan: Plan;
  withheld: Withheld[];
  jobs: number;
  dirty: boolean | null;
  isolation: Manifest['isolation'];
  agentVersions: ReadonlyMap<string, string | null>;
  /** Keyed by commit. */
  treeNotes: ReadonlyMap<string, SnapshotNotes>;
  gitVersion: string | null;
  notes: string[];
}): Promise<Manifest> {
  const { config, plan } = input;
  const isEarly = config.earlyExit === true && plan.trials > 1;
  const createdAt = new Date();
  return {
    schema_version: '1',
    whetstone_version: version,
    run_id: newRunId(createdAt),
    created_at: createdAt.toISOString(),
    config_path: config.file,
    config_hash: await hashFiles([config.file, config.tasksFile]),
    repo: { path: config.repo.path, base_ref: config.repo.baseRef, dirty: input.dirty },
    withheld: input.withheld,
    seed: plan.seed,
    trials: plan.trials,
    jobs: input.jobs,
    baseline: plan.baseline,
    ...(isEarly ? { metric: 'pass_at_k', early_exit: true } : present({ metric: config.metric })),
    ...present({ equivalence: config.equivalence, looks: plan.looks, bridge: plan.bridge }),
    case_count: plan.cases.length,
    agents: plan.agents.map((agent) => ({ ...agent, version: input.agentVersions.get(agent.name) ?? null })),
    tasks: plan.tasks.map(({ id, commit, fingerprint }) => ({
      id,
      title: config.tasks.find((task) => task.id === id)?.title ?? null,
      commit,
      fingerprint,
      submodules: input.treeNotes.get(commit)?.submodules ?? [],
      lfs_pointers: input.treeNotes.get(commit)?.lfsPointers ?? [],
    })),
    variants: await Promise.all(plan.variants.map((planned) => describeVariant(planned, config))),
    order: plan.order,
    case_matrix: plan.cases.map((planned) => ({
      case_id: planned.id,
      agent_name: planned.agent,
      task_id: planned.task,
      variant: planned.variant,
      trial_index: planned.trial,
      block: planned.block,
      fingerprint: planned.fingerprint,
    })),
    isolation: input.isolation,
    gateway: describeGateway(config.gateway),
    machine: {
      platform: platform(),
      release: release(),
      arch: arch(),
      cpus: availableParallelism(),
      memory_bytes: totalmem(),
      node: process.versions.node,
      git: input.gitVersion,
    },
    notes: input.notes,
  };
}

async function describeVariant({ name, fingerprint }: Plan['variants'][number], { variants }: Config) {
  const variant = variants.find((candidate) => candidate.name === name);
  const context = variant && (await contextContent(variant));
  return { name, description: variant?.description ?? '', fingerprint, ...present({ context }) };
}

function describeGateway(gateway: GatewayConfig | undefined): Manifest['gateway'] {
  if (!gateway) return null;
  return {
    mode: gateway.mode,
    script: gateway.mode === 'script' ? gateway.script : null,
    ...('cassettes' in gateway && { cassettes: gateway.cassettes }),
    ...(gateway.faults.length > 0 && { faults: gateway.faults }),
    exchanges: gateway.keepExchanges ?? true,
  };
}

/** `YYYYMMDD-HHMMSSmmm-xxxx` in UTC: sorts by time, and two runs of the same millisecond differ. */
export function newRunId(at: Date): string {
  const stamp = at
    .toISOString()
    .replace(/[-:.Z]/g, '')
    .replace('T', '-');
  return `${stamp}-${randomBytes(2).toString('hex')}`;
}

async function hashFiles(files: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(file)).update('\0');
  return hash.digest('hex');
}
