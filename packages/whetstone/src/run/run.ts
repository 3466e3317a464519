import type { Agent } from '@whetstone/agents';
import { createAgent } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { createMask, startSandboxProvider } from '@whetstone/sandbox';
import type { Lab } from '../attempt/lab.ts';
import type { Config, VariantConfig } from '../config/config.ts';
import type { Plan, PlannedCase } from '../plan/plan.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { version } from '../version.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { agentsBesideGateway } from './agents-beside-gateway.ts';
import { openGateway } from './open-gateway.ts';
import { openRecord, prepareTrees } from './open-record.ts';
import { planOrResume, type RunRequest } from './plan-or-resume.ts';
import { readDeclaredContext } from './read-declared-context.ts';
import { requireCapabilities } from './require-capabilities.ts';
import { type CaseLab, runCase } from './run-case.ts';
import { makeScratch, sweepScratch } from './scratch.ts';
import { secretsOf } from './secrets.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

/** What happens in a run, for whoever shows it. */
export type RunEvent =
  | { type: 'preparing' }
  /** Something that a user should know before the run costs anything. */
  | { type: 'warned'; message: string }
  | { type: 'started'; manifest: Manifest; directory: string; done: number; total: number }
  | { type: 'case.started'; planned: PlannedCase }
  | { type: 'case.retried'; planned: PlannedCase; evidence: string }
  | { type: 'case.finished'; planned: PlannedCase; row: CaseRow };

/** `interrupted`: the signal ended the run before every case had finished. */
export type RunResult = ReportedRun & { interrupted: boolean };

/**
 * Runs the cases of a configuration that have no result yet and writes the run directory. Rejects with a typed error
 * when the run cannot be started or its directory cannot be written; a case that fails is a row, not a rejection.
 * After an abort it resolves with what has finished.
 */
export async function run(
  request: RunRequest & { signal: AbortSignal; onEvent?: (event: RunEvent) => void },
): Promise<RunResult> {
  const { config, onEvent = () => undefined } = request;
  const job = await planOrResume(request);
  await using gateway = await openGateway(config, job);
  await sweepScratch();
  await using scratch = await makeScratch();
  onEvent({ type: 'preparing' });
  await using workspaces = await createWorkspaces({
    repo: config.repo.path,
    scratch: scratch.directory,
  });
  const sandboxes = await startSandboxProvider(config.sandbox.provider, { scratch: scratch.directory });
  const agents = await createAgents(config, job.plan);
  requireCapabilities(config, job.plan, agents);
  const contexts = await readContexts(config, job.plan);
  for (const message of agentsBesideGateway(config, job.plan)) onEvent({ type: 'warned', message });
  const treeNotes = await prepareTrees(config, job, workspaces);
  await using record = await openRecord({
    config,
    job,
    sandboxes,
    workspaces,
    treeNotes,
    scratch: scratch.directory,
  });

  const secrets = [
    ...secretsOf(selectedAgents(config, job.plan), process.env),
    ...[...contexts.values()].flatMap((context) => context.secrets),
  ];
  const lab: Lab = {
    workspaces,
    sandboxes,
    record,
    scratch: scratch.directory,
    mask: createMask(secrets),
    hasSecrets: secrets.length > 0,
    version,
    ...present({ gateway }),
  };
  const missing = await runCases({ ...lab, config, agents, contexts }, job.plan, request, onEvent);
  const interrupted = missing > 0;
  await record.finish(interrupted ? 'interrupted' : 'finished');
  return { ...(await writeReport(record)), interrupted };
}

async function createAgents(config: Config, plan: Plan): Promise<ReadonlyMap<string, Agent>> {
  const dependencies = { environment: process.env, hasLanes: config.gateway !== undefined };
  const created = new Map<string, Agent>();
  for (const agent of selectedAgents(config, plan)) {
    created.set(agent.name, await createAgent(agent, dependencies));
  }
  return created;
}

/** What the variants declare, read before anything runs. */
async function readContexts(config: Config, plan: Plan): Promise<CaseLab['contexts']> {
  const contexts = selectedVariants(config, plan).map(
    async (variant) => [variant.name, await readDeclaredContext(variant, process.env)] as const,
  );
  return new Map(await Promise.all(contexts));
}

function selectedVariants(config: Config, plan: Plan): VariantConfig[] {
  return config.variants.filter(({ name }) => plan.variants.some((planned) => planned.name === name));
}

function selectedAgents(config: Config, plan: Plan): AgentConfig[] {
  return config.agents.filter(({ name }) => plan.agents.some((planned) => planned.name === name));
}

/** Runs what has no result yet; resolves with the number of cases that an abort left without one. */
async function runCases(
  lab: CaseLab,
  plan: Plan,
  { jobs, signal }: { jobs: number; signal: AbortSignal },
  onEvent: (event: RunEvent) => void,
): Promise<number> {
  const { record } = lab;
  const waiting = missingCases(plan, record.rows);
  onEvent({
    type: 'started',
    manifest: record.manifest,
    directory: record.directory,
    done: plan.cases.length - waiting.length,
    total: plan.cases.length,
  });

  const queue = waiting.values();
  let missing = waiting.length;
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  const work = async () => {
    for (const next of queue) {
      if (stop.aborted) return;
      onEvent({ type: 'case.started', planned: next });
      const row = await runCase(next, lab, {
        signal: stop,
        onRetry: (evidence) => onEvent({ type: 'case.retried', planned: next, evidence }),
      });
      if (!row) continue;
      missing -= 1;
      onEvent({ type: 'case.finished', planned: next, row });
    }
  };
  const workers = Array.from({ length: Math.min(jobs, waiting.length) }, () =>
    work().catch((error: unknown) => {
      broken.abort(); // the record cannot be written: what else runs would be lost too
      throw error;
    }),
  );
  const settled = await Promise.allSettled(workers);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return missing;
}

/** What has no result yet, in starting order. An infrastructure error is missing data: a resumed run tries it again. */
export function missingCases(plan: Plan, rows: ReadonlyMap<string, CaseRow>): PlannedCase[] {
  const missing = plan.cases.filter(({ id }) => (rows.get(id)?.outcome ?? 'error') === 'error');
  const byId = new Map(missing.map((planned) => [planned.id, planned]));
  return plan.order.flatMap((id) => byId.get(id) ?? []);
}
