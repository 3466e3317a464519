import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config } from '../config/config.ts';
import type { Plan, Selection } from '../plan/plan.ts';
import { planRun } from '../plan/plan-run.ts';
import type { Manifest } from '../record/manifest.ts';
import { readRun, type StoredRun } from '../record/run-record.ts';
import { resolveCommit } from '../workspace/repository.ts';

export type RunRequest = {
  config: Config;
  selection: Selection;
  trials: number;
  jobs: number;
  /** Default: the config's seed, else a new one. */
  seed?: string;
  /** Directory of a run to go on with; selection, trials and seed are then that run's. */
  resume?: string;
};

/** A plan, and where it continues an earlier run, that run. */
export type Job = { plan: Plan; jobs: number; resume?: StoredRun };

/** Plans a new run, or makes the plan of an earlier one again and checks that it is still the same work. */
export async function planOrResume(request: RunRequest): Promise<Job> {
  const { config, jobs } = request;
  const seed = request.seed ?? config.seed;
  if (request.resume === undefined) {
    const plan = await planRun(config, request.selection, {
      trials: request.trials,
      resolveCommit: (ref) => resolveCommit(config.repo.path, ref),
      ...present({ seed }),
    });
    return { plan, jobs };
  }
  const resume = await readRun(request.resume);
  const plan = await planAgain(config, resume.manifest);
  refuseChanged(plan, resume.manifest, resume.directory);
  return { plan, jobs, resume };
}

/** The plan of a manifest, from the configuration as it is now and the commits as they were then. */
function planAgain(config: Config, manifest: Manifest): Promise<Plan> {
  const unique = (values: string[]) => [...new Set(values)];
  const refs = new Map(
    manifest.tasks.map(({ id, commit }) => {
      const task = config.tasks.find((candidate) => candidate.id === id);
      return [task?.repoRef ?? config.repo.baseRef, commit];
    }),
  );
  return planRun(
    config,
    {
      agents: unique(manifest.case_matrix.map(({ agent_name }) => agent_name)),
      variants: unique(manifest.case_matrix.map(({ variant }) => variant)),
      taskIds: unique(manifest.case_matrix.map(({ task_id }) => task_id)),
      categories: [],
      difficulties: [],
    },
    {
      trials: manifest.trials,
      seed: manifest.seed,
      resolveCommit: async (ref) => refs.get(ref) ?? resolveCommit(config.repo.path, ref),
    },
  );
}

function refuseChanged(plan: Plan, manifest: Manifest, directory: string): void {
  const planned = new Map(plan.cases.map(({ id, fingerprint }) => [id, fingerprint]));
  const changed = manifest.case_matrix.filter(
    ({ case_id, fingerprint }) => planned.get(case_id) !== fingerprint,
  );
  if (changed.length === 0) return;
  const parts = [
    ...manifest.agents
      .filter(({ name, fingerprint }) => differs(plan.agents, 'name', name, fingerprint))
      .map(({ name }) => `agent ${name}`),
    ...manifest.tasks
      .filter(({ id, fingerprint }) => differs(plan.tasks, 'id', id, fingerprint))
      .map(({ id }) => `task ${id}`),
    ...manifest.variants
      .filter(({ name, fingerprint }) => differs(plan.variants, 'name', name, fingerprint))
      .map(({ name }) => `variant ${name}`),
  ];
  throw new WhetstoneError(
    'resume-changed',
    `This run cannot be resumed: ${changed.length} of ${manifest.case_count} cases would not be the same work any more (${parts.join(', ') || 'the sandbox or the script of the gateway'} changed).`,
    {
      where: directory,
      hint: 'Put the configuration back as it was, or start a new run: results of two different things must not be mixed.',
      exitCode: 2,
    },
  );
}

function differs<Key extends string>(
  list: readonly ({ fingerprint: string } & Record<Key, string>)[],
  key: Key,
  name: string,
  fingerprint: string,
): boolean {
  return list.find((entry) => entry[key] === name)?.fingerprint !== fingerprint;
}
